from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.model import Clip, ClipSpec

#: One clip for each container and layout; made small, with 12 frames in three GOPs.
SPECS = {
    "mp4": ClipSpec(codec="h264", bframes=2),
    "mp4-moov-at-end": ClipSpec(codec="av1", faststart=False),
    "mp4-fragmented": ClipSpec(codec="h264", bframes=2, fragmented=True),
    "mkv": ClipSpec(codec="h264", container="mkv", bframes=2),
    "webm": ClipSpec(codec="vp9", container="webm", audio=True),
    "ts": ClipSpec(codec="h264", container="ts", bframes=2, audio=True),
    "avi": ClipSpec(codec="mpeg4", container="avi", audio=True),
}


@pytest.fixture(scope="session")
def small_clips(clip_cache: ClipCache) -> dict[str, Clip]:
    """A clip for each of ``SPECS``, by name."""
    return {
        name: clip_cache.clip(replace(spec, width=160, height=96, frames=12, gop=4)) for name, spec in SPECS.items()
    }


@pytest.fixture(scope="session", params=SPECS)
def clip(request: pytest.FixtureRequest, small_clips: dict[str, Clip]) -> Clip:
    """Each container in turn."""
    return small_clips[request.param]


@pytest.fixture(scope="session")
def mp4(small_clips: dict[str, Clip]) -> Clip:
    return small_clips["mp4"]
