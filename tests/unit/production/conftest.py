from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.model import Clip, ClipSpec
from pytest_videodecode.production import video_io
from pytest_videodecode.production.reading.video_source import THREADS_VARIABLE


@pytest.fixture(autouse=True)
def _threads_unset(monkeypatch: pytest.MonkeyPatch) -> None:
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
def ways(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the reader answered by a ``seek``, and how often it went from the ``start``."""
    counted: Counter[str] = Counter()
    by_seek, by_start = video_io._from_keyframe, video_io._from_start

    def from_keyframe(*arguments: Any) -> Any:
        frames = by_seek(*arguments)
        counted["seek"] += frames is not None
        return frames

    def from_start(*arguments: Any) -> Any:
        counted["start"] += 1
        return by_start(*arguments)

    monkeypatch.setattr(video_io, "_from_keyframe", from_keyframe)
    monkeypatch.setattr(video_io, "_from_start", from_start)
    return counted
