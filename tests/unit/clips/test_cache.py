from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from pytest_videodecode.clips import job, marks
from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.clips.catalogue import CATALOGUE
from pytest_videodecode.clips.timing import frame_time
from pytest_videodecode.errors import ClipError
from pytest_videodecode.model import Clip, ClipSpec

SMALL = ClipSpec(codec="h264", width=160, height=96, frames=9)

#: The coarsest settings that a mark must survive.
COARSEST = {"av1": 50, "h264": 40, "hevc": 45, "vp9": 50, "mpeg4": 20}

ASKER = """
import pathlib, sys
from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.model import ClipSpec
clip = ClipCache(pathlib.Path(sys.argv[1])).clip(ClipSpec(codec="h264", width=160, height=96, frames=9))
sys.stdout.write(f"{clip.frames} {pathlib.Path(clip.path).stat().st_ino}")
"""


def decoded(clip: Clip) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    with av.open(clip.path) as container:
        return np.stack([frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)])


@pytest.fixture
def cache(tmp_path: Path) -> ClipCache:
    return ClipCache(tmp_path / "cache")


def refuse_to_run(*_: object) -> None:
    raise AssertionError("nothing should have to be made")


@pytest.mark.parametrize("name", CATALOGUE)
def test_catalogue_clip_is_what_its_spec_says(name: str, clip_cache: ClipCache) -> None:
    spec = CATALOGUE[name]
    clip = clip_cache.clip(spec)
    assert (clip.name, clip.codec, clip.width, clip.height) == (spec.name, spec.codec, spec.width, spec.height)
    assert clip.intact
    assert clip.frames == spec.frames
    assert clip.keyframes == tuple(range(0, spec.frames, spec.gop))
    assert list(clip.times) == sorted(set(clip.times))
    milliseconds = spec.container in ("mkv", "webm")
    for number, time in enumerate(clip.times):
        off = time - clip.times[0] - (frame_time(spec, number) - spec.start)
        assert abs(off) <= (Fraction(1, 1000) if milliseconds else 0)


@pytest.mark.parametrize("codec", COARSEST)
def test_marks_survive_the_coarsest_quantisers(codec: str, clip_cache: ClipCache) -> None:
    container = "webm" if codec == "vp9" else "mp4"
    clip = clip_cache.clip(ClipSpec(codec=codec, container=container, quality=COARSEST[codec]))
    assert clip.read(decoded(clip), range(clip.frames)) == list(range(clip.frames))


def test_marks_are_read_from_frames_that_a_decoder_resized(clip_cache: ClipCache) -> None:
    clip = clip_cache.clip(ClipSpec(codec="h264"))
    halved = decoded(clip)[:, ::2, ::2]
    assert clip.read(halved, range(clip.frames)) == list(range(clip.frames))


def test_same_spec_is_the_same_clip_and_is_found_without_work(
    cache: ClipCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = cache.clip(SMALL)
    monkeypatch.setattr(job, "run", refuse_to_run)
    assert cache.clip(replace(SMALL)) is first
    assert ClipCache(cache.root).clip(SMALL) == first


def test_other_library_versions_make_the_clip_anew(cache: ClipCache, monkeypatch: pytest.MonkeyPatch) -> None:
    first = cache.clip(SMALL)
    monkeypatch.setattr("pytest_videodecode.clips.cache._library_versions", lambda: {"av": "99.0"})
    assert ClipCache(cache.root).clip(SMALL).path != first.path


def test_several_processes_get_the_same_whole_file(tmp_path: Path) -> None:
    askers = [subprocess.Popen([sys.executable, "-c", ASKER, str(tmp_path)], stdout=subprocess.PIPE) for _ in range(3)]
    answers = {asker.communicate()[0] for asker in askers}
    assert len(answers) == 1
    assert answers.pop().startswith(b"9 ")


def test_variable_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIDEODECODE_CACHE", str(tmp_path))
    assert ClipCache().root == tmp_path
    monkeypatch.delenv("VIDEODECODE_CACHE")
    assert ClipCache().root.name == "pytest-videodecode"
    monkeypatch.chdir(tmp_path)
    assert ClipCache(Path("here")).root == tmp_path / "here"


def test_unusable_spec_is_refused_before_anything_is_made(cache: ClipCache) -> None:
    with pytest.raises(ClipError, match="webm cannot hold h264"):
        cache.clip(replace(SMALL, container="webm"))
    assert not cache.root.exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no such file can be found"),
        (b"", "an empty file"),
        (b"this is not a video\n" * 100, "not a video that FFmpeg can open"),
    ],
)
def test_file_that_is_no_clip_is_refused(
    cache: ClipCache, tmp_path: Path, content: bytes | None, message: str
) -> None:
    path = tmp_path / "clip.mp4"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ClipError, match=f"^{path}: {message}") as caught:
        cache.real(path)
    assert "\n" not in str(caught.value)


def test_folder_and_device_are_refused(cache: ClipCache, tmp_path: Path) -> None:
    with pytest.raises(ClipError, match="a folder; give a video file"):
        cache.real(tmp_path)
    with pytest.raises(ClipError, match="not an ordinary file"):
        cache.real(Path("/dev/null"))


def test_unreadable_file_is_refused(cache: ClipCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "clip.mp4"
    path.write_bytes(b"x")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")  # by hand, because a superuser may read everything

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ClipError, match=r"cannot be read \(Permission denied\); correct its permissions"):
        cache.real(path)


def test_file_without_video_is_refused(cache: ClipCache, tmp_path: Path) -> None:
    path = tmp_path / "sound.wav"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=8000, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 800), np.int16), format="s16", layout="mono")
        frame.sample_rate = 8000
        container.mux([*stream.encode(frame), *stream.encode(None)])
    with pytest.raises(ClipError, match="holds no video stream"):
        cache.real(path)


def test_real_file_is_known_by_its_content(cache: ClipCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = cache.clip(SMALL)
    path = tmp_path / "own.mp4"
    shutil.copy(made.path, path)
    clip = cache.real(path)
    assert (clip.name, clip.path, clip.spec) == ("own.mp4", str(path), None)
    assert (clip.times, clip.keyframes, clip.intact) == (made.times, made.keyframes, True)
    monkeypatch.setattr(job, "run", refuse_to_run)
    assert cache.real(path) is clip
    moved = path.rename(tmp_path / "moved.mp4")
    assert ClipCache(cache.root).real(moved).times == clip.times


def test_marks_and_reference_agree_on_what_a_decoder_returned(cache: ClipCache) -> None:
    made = cache.clip(SMALL)
    frames = decoded(made)
    backwards = list(range(8, -1, -1))
    assert marks.read(frames[::-1]) == backwards
    assert cache.real(Path(made.path)).read(frames[::-1], backwards) == backwards
