"""Memory for decoded pictures, used again and again: what a loader holds stays as large as it was at its largest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class PicturePool:
    """Hands out ``uint8 (3,H,W)`` arrays and takes them back."""

    def __init__(self) -> None:
        self._free: dict[tuple[int, ...], list[NDArray[np.uint8]]] = {}

    def keep(self, picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """A copy of ``picture`` (H,W,3), channels first: windows are then put together from whole planes."""
        planes = picture.transpose(2, 0, 1)
        free = self._free.setdefault(planes.shape, [])
        kept = free.pop() if free else np.empty(planes.shape, np.uint8)
        np.copyto(kept, planes)
        return kept

    def give_back(self, kept: NDArray[np.uint8]) -> None:
        """Take back what ``keep`` has handed out; its content is not to be read any more."""
        self._free[kept.shape].append(kept)
