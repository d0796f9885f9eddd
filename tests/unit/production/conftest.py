from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.model import Clip, ClipSpec
from pytest_videodecode.production import video_io
from pytest_videodecode.production.video_source import THREADS_VARIABLE


@dataclass
class Sequential:
    """A file as one decode on one thread shows it, up to the error that ends it."""

    frames: list[NDArray[np.uint8]] = field(default_factory=list)
    times: list[Fraction | None] = field(default_factory=list)
    error: type[Exception] | None = None


@dataclass
class Ways:
    """How often the reader answered by a seek, and how often by a decode from the start."""

    seek: int = 0
    start: int = 0


def decode_sequentially(path: str | Path) -> Sequential:
    seen = Sequential()
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.codec_context.thread_count = 1
        try:
            for frame in container.decode(stream):
                first = seen.frames[0].shape if seen.frames else (frame.height, frame.width, 3)
                picture = frame.reformat(width=first[1], height=first[0], format="rgb24").to_ndarray()
                base = stream.time_base
                seen.frames.append(picture)
                exact = base is not None and frame.pts is not None
                seen.times.append(
                    Fraction(frame.pts * base.numerator, base.denominator) if exact else None  # type: ignore
                )
        except av.FFmpegError as error:
            seen.error = type(error)
    return seen


@pytest.fixture(autouse=True)
def _default_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(THREADS_VARIABLE, raising=False)


@pytest.fixture(params=["av1", "h264", "mpeg4"])
def clip(request: pytest.FixtureRequest, clip_cache: ClipCache) -> Clip:
    return clip_cache.clip(ClipSpec(codec=request.param))


@pytest.fixture
def av1(clip_cache: ClipCache) -> Clip:
    return clip_cache.clip(ClipSpec(codec="av1"))


@pytest.fixture
def h264(clip_cache: ClipCache) -> Clip:
    return clip_cache.clip(ClipSpec(codec="h264"))


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> Ways:
    counted = Ways()
    by_seek, by_start = video_io._from_keyframe, video_io._from_start

    def from_keyframe(*arguments: Any) -> NDArray[np.uint8] | None:
        frames = by_seek(*arguments)
        counted.seek += frames is not None
        return frames

    def from_start(*arguments: Any) -> NDArray[np.uint8]:
        counted.start += 1
        return by_start(*arguments)

    monkeypatch.setattr(video_io, "_from_keyframe", from_keyframe)
    monkeypatch.setattr(video_io, "_from_start", from_start)
    return counted
