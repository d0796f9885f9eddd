from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.clips.ffmpeg_cli import FfmpegFailed
from pytest_videodecode.decoders import ffmpeg
from pytest_videodecode.errors import DecoderSpecError, Unsupported
from pytest_videodecode.model import ClipSpec, DecodeRequest


def decode(path: str, **asked: Any) -> Iterator[Any]:
    decoded = ffmpeg.make({}).decode(DecodeRequest(path=path, **asked))
    assert isinstance(decoded, Iterator)
    return decoded


@pytest.mark.parametrize("codec", ["av1", "h264", "mpeg4"])
def test_frames_are_those_asked_for(clip_cache: ClipCache, codec: str) -> None:
    clip = clip_cache.clip(ClipSpec(codec=codec))
    asked = (0, 40, 7, 7)
    by_index = np.stack(list(decode(clip.path, indices=asked)))
    by_time = np.stack(list(decode(clip.path, timestamps=tuple(float(clip.times[number]) for number in asked))))
    assert clip.read(by_index, asked) == list(asked)
    np.testing.assert_array_equal(by_time, by_index)


def test_no_process_is_left_where_reading_ends_early(clip_cache: ClipCache) -> None:
    clip = clip_cache.clip(ClipSpec())
    children = psutil.Process(os.getpid()).children()
    assert len(list(decode(clip.path, indices=(0, 5), stop_after=1))) == 1
    assert psutil.Process(os.getpid()).children() == children


def test_index_past_the_end_names_how_many_there_are(clip_cache: ClipCache) -> None:
    clip = clip_cache.clip(ClipSpec())
    with pytest.raises(IndexError, match=f"the file shows {clip.frames} frames"):
        list(decode(clip.path, indices=(clip.frames,)))


def test_a_file_that_is_no_video_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "note.mp4").write_text("no video")
    with pytest.raises(FfmpegFailed):
        list(decode(str(tmp_path / "note.mp4"), indices=(0,)))


def test_it_says_what_it_is_and_takes_no_options(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ffmpeg.make({}).info.versions["ffmpeg"]
    with pytest.raises(DecoderSpecError, match="ffmpeg has no option 'crf'"):
        ffmpeg.make({"crf": "3"})
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", "no-such-ffmpeg")
    with pytest.raises(Unsupported, match="IMAGEIO_FFMPEG_EXE"):
        ffmpeg.make({})
