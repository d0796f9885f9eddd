from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import av
import numpy as np
import pytest

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.clips.reference import digest
from pytest_videodecode.errors import DamageError, FormError
from pytest_videodecode.failures.committed import MAX_CLIP, commit, committed_clip, described, sidecar
from pytest_videodecode.failures.corpus import CLIPS, packaged
from pytest_videodecode.model import Clip, ClipSpec

FOLDER = packaged().parent / CLIPS
NAMES = ("av1.mp4", "av1-mkv.mkv", "h264.mp4", "h264-ts.ts", "mpeg4.avi", "hevc.mkv", "vp9.webm")


def test_these_clips_are_committed_and_small() -> None:
    files = [path for path in FOLDER.iterdir() if path.suffix != ".json"]
    assert {path.name for path in files} == set(NAMES)
    assert max(path.stat().st_size for path in files) <= 25_000
    assert sum(path.stat().st_size for path in FOLDER.parent.rglob("*") if path.is_file()) < 3_000_000


@pytest.mark.parametrize("name", NAMES)
def test_decoded_frames_have_the_digests_that_are_written_down(name: str) -> None:
    said, clip = described(FOLDER / name), committed_clip(FOLDER / name)
    with av.open(clip.path) as container:
        stream = container.streams.video[0]
        stream.codec_context.thread_count = 1
        pictures = [frame.to_ndarray(format="rgb24") for frame in container.decode(stream)]
    assert [digest(picture.astype(np.uint8, copy=False)) for picture in pictures] == list(said.truth.digests)
    assert [clip.read(picture[None], (0,)) for picture in pictures] == [[number] for number in range(clip.frames)]
    assert clip.keyframes == tuple(range(0, clip.frames, 8))
    assert (clip.intact, clip.spec, clip.name) == (True, said.spec, name)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    for path in (FOLDER / "vp9.webm", sidecar(FOLDER / "vp9.webm")):
        shutil.copy(path, tmp_path)
    return tmp_path / "vp9.webm"


def test_file_that_is_another_one_is_not_believed(copied: Path) -> None:
    copied.write_bytes(copied.read_bytes() + b"more")
    with pytest.raises(DamageError, match=r"vp9.webm: not the file that vp9.webm.json describes; restore both"):
        committed_clip(copied)


def test_clip_without_its_truth_is_said(copied: Path) -> None:
    sidecar(copied).unlink()
    with pytest.raises(DamageError, match=r"vp9.webm.json: cannot be read .*; commit clip and truth both"):
        committed_clip(copied)


@pytest.mark.parametrize(
    ("change", "words"), [({"schema": "videodecode-clip/9"}, "this version reads"), ({"spec": 3}, "expected dict")]
)
def test_truth_of_another_form_is_said(copied: Path, change: dict[str, object], words: str) -> None:
    said = json.loads(sidecar(copied).read_text())
    sidecar(copied).write_text(json.dumps({**said, **change}))
    with pytest.raises(FormError, match=words):
        committed_clip(copied)


def test_generated_clip_is_committed_once_under_any_name(tmp_path: Path, clip_cache: ClipCache) -> None:
    clip = clip_cache.clip(ClipSpec(codec="h264", width=160, height=96, frames=9))
    path = commit(clip, tmp_path, "mine")
    assert path == tmp_path / "mine.mp4"
    assert commit(clip, tmp_path) == path
    again = committed_clip(path)
    assert dataclasses.replace(again, name=clip.name, path=clip.path) == clip
    assert sorted(each.name for each in tmp_path.iterdir()) == ["mine.mp4", "mine.mp4.json"]
    name = commit(clip, tmp_path / "other").name
    assert name.startswith("h264_width=160_height=96_frames=9-")
    assert name.endswith(".mp4")


def test_real_and_large_clips_are_refused(tmp_path: Path, clip: Clip) -> None:
    with pytest.raises(DamageError, match=r"mpeg4.avi is a real file; only generated clips are copied"):
        commit(dataclasses.replace(clip, spec=None), tmp_path)
    large = tmp_path / "large.mp4"
    large.write_bytes(bytes(MAX_CLIP + 1))
    with pytest.raises(DamageError, match=r"more than the 262144 of a committed one; find the failure on a smaller"):
        commit(dataclasses.replace(clip, path=str(large)), tmp_path)
    assert list(tmp_path.iterdir()) == [large]
