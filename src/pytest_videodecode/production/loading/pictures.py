"""Memory for pictures, used again and again: fresh memory costs as much as the copy that fills it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Of each kind, what is kept for use again: the samples of a batch or two.
_KEPT_BYTES = 256 * 1024**2


class PicturePool:
    """Keeps decoded frames as ``uint8 (3,H,W)``, and lends memory for samples. For one thread."""

    def __init__(self) -> None:
        self._free: dict[tuple[int, ...], list[NDArray[np.uint8]]] = {}
        self._returned: dict[tuple[Any, ...], list[NDArray[Any]]] = {}

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

    def lend(self, shape: tuple[int, ...], dtype: type[np.generic]) -> NDArray[Any]:
        """An array with any content. It comes back by itself when nothing refers to it or to a view of it any more."""
        returned = self._returned.setdefault((shape, dtype), [])
        memory = returned.pop() if returned else np.empty(shape, dtype)
        return np.asarray(_Lease(memory, returned))


class _Lease:
    """What lent arrays refer to as the owner of their memory; when the last of them is gone, so is this."""

    def __init__(self, memory: NDArray[Any], returned: list[NDArray[Any]]) -> None:
        self.__array_interface__ = memory.__array_interface__
        self._memory, self._returned = memory, returned

    def __del__(self) -> None:
        if (len(self._returned) + 1) * self._memory.nbytes <= _KEPT_BYTES:
            self._returned.append(self._memory)
