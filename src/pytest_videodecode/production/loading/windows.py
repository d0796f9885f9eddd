"""Delta windows: which frames of its episode a sample shows of each feature, and which of them are padding."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pytest_videodecode.production.layout.errors import DatasetError
from pytest_videodecode.production.layout.info import DatasetInfo

_MAX_STEPS = 10_000


def delta_frames(
    delta_timestamps: Mapping[str, Sequence[float]] | None, info: DatasetInfo, tolerance_s: float
) -> dict[str, tuple[int, ...]]:
    """By feature, the offsets of its window in frames.

    Raises:
        DatasetError: an unknown feature, an empty window, or an offset (s) that no whole number of frames comes
            within ``tolerance_s`` of.
    """
    found = {}
    for name, deltas in (delta_timestamps or {}).items():
        if name not in info.features:
            raise DatasetError(f"delta_timestamps names {name!r:.80}; the data set has {', '.join(info.features)}")
        if not 0 < len(deltas) <= _MAX_STEPS:
            raise DatasetError(f"delta_timestamps of {name} has {len(deltas)} steps; give 1 to {_MAX_STEPS}")
        for delta in deltas:
            if not (math.isfinite(delta) and abs(round(delta * info.fps) / info.fps - delta) <= tolerance_s):
                raise DatasetError(
                    f"delta_timestamps of {name}: {delta:g} s is no whole number of frames at {info.fps:g} fps "
                    f"(within {tolerance_s:g} s); use multiples of {1 / info.fps:g} s"
                )
        found[name] = tuple(round(delta * info.fps) for delta in deltas)
    return found


def window(
    frames: NDArray[np.int64], offsets: Sequence[int], length: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The frames (N,T) that the windows around ``frames`` (N,) show in an episode of ``length``, and their padding.

    What lies before or after the episode is its first or last frame instead, and padding.
    """
    asked = frames[:, None] + np.asarray(offsets, dtype=np.int64)
    shown = np.clip(asked, 0, length - 1)
    return shown, shown != asked
