"""The production reader, and the same made slower by a known share; in the plain shape ``(path, indices)``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from pytest_videodecode.production.video_io import decode_video_frames


def plain(path: str, indices: Sequence[int]) -> Any:
    """The frames asked for."""
    return decode_video_frames(path, frame_indices=indices)


def slow10(path: str, indices: Sequence[int]) -> Any:
    """The same in 10 % more CPU time."""
    return _slowed(path, indices, 0.1)


def slow50(path: str, indices: Sequence[int]) -> Any:
    """The same in half as much CPU time again."""
    return _slowed(path, indices, 0.5)


def _slowed(path: str, indices: Sequence[int], share: float) -> Any:
    start = time.process_time()
    frames = plain(path, indices)
    end = time.process_time() + share * (time.process_time() - start)
    while time.process_time() < end:
        pass
    return frames
