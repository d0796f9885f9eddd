from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.decoders.registry import load
from pytest_videodecode.decoders.spec import parse
from pytest_videodecode.errors import DecoderSpecError, Unsupported
from pytest_videodecode.model import ClipSpec, DecodeRequest
from pytest_videodecode.production import video_io

VARIABLE = "OPENWAM_VIDEO_DECODE_THREADS"


def decode(spec: str, path: str, **asked: Any) -> NDArray[np.uint8]:
    frames = load(parse(spec)).decode(DecodeRequest(path=path, **asked))
    assert isinstance(frames, np.ndarray)
    return frames


def test_it_promises_a_pool_of_two_and_says_how_it_is_asked() -> None:
    info = load(parse("production")).info
    assert info.asks == ("indices", "timestamps")
    assert info.threads_by == f"environment variable {VARIABLE}"
    assert info.opens_as == ("path", "file", "unseekable")
    assert info.thread_cap == 2
    assert info.log_levels
    assert "libavcodec" in info.versions


@pytest.mark.parametrize("codec", ["av1", "h264", "mpeg4"])
@pytest.mark.parametrize("open_as", ["path", "file", "unseekable"])
def test_frames_are_those_asked_for(clip_cache: ClipCache, codec: str, open_as: str) -> None:
    clip = clip_cache.clip(ClipSpec(codec=codec))
    asked = (30, 31, 5, 5)
    times = tuple(float(clip.times[number]) for number in asked)
    assert clip.read(decode("production", clip.path, indices=asked, open_as=open_as), asked) == list(asked)
    assert clip.read(decode("production", clip.path, timestamps=times, open_as=open_as), asked) == list(asked)


def test_its_thread_count_is_the_environment_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str | None] = []

    def decode_video_frames(
        video_path: str, timestamps: Any = None, tolerance_s: float = 1e-4, *, frame_indices: Any = None
    ) -> NDArray[np.uint8]:
        seen.append(os.environ.get(VARIABLE))
        return np.zeros((1, 2, 2, 3), np.uint8)

    monkeypatch.setattr(video_io, "decode_video_frames", decode_video_frames)
    monkeypatch.setenv(VARIABLE, "7")
    for spec, threads in [("production", None), ("production", 0), ("production,threads=160", None)]:
        decode(spec, "clip.mp4", indices=(0,), threads=threads)
    assert seen == [None, "0", "160"]
    assert os.environ[VARIABLE] == "7"


def test_options_that_it_does_not_take_are_refused() -> None:
    with pytest.raises(DecoderSpecError, match="production has no parameter 'backend' for that option; it takes tol"):
        load(parse("production,backend=pyav"))


def test_with_a_cache_clips_stay_open_between_requests(clip_cache: ClipCache, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[video_io.DecoderCache] = []

    class Seen(video_io.DecoderCache):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

    monkeypatch.setattr(video_io, "DecoderCache", Seen)
    clip = clip_cache.clip(ClipSpec(codec="h264"))
    decoder = load(parse("production,cache=on"))
    for asked in ((30, 31), (5,)):
        frames = decoder.decode(DecodeRequest(path=clip.path, indices=asked))
        assert isinstance(frames, np.ndarray)
        assert clip.read(frames, asked) == list(asked)
    (cache,) = made
    assert (cache.statistics.hits, cache.statistics.misses) == (1, 1)
    load(parse("production,cache=off"))
    assert len(made) == 1


@pytest.mark.parametrize(
    ("spec", "says"),
    [("production,cache=perhaps", "known are on, off"), ("production,out=here", "cannot be given as text")],
)
def test_a_cache_is_on_or_off_and_objects_are_not_text(spec: str, says: str) -> None:
    with pytest.raises(DecoderSpecError, match=says):
        load(parse(spec))


def test_a_reader_without_a_cache_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(video_io, "DecoderCache")
    with pytest.raises(Unsupported, match="has no DecoderCache; leave cache=on out"):
        load(parse("production,cache=on"))
