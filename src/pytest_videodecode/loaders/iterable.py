"""Any object with ``__iter__`` as a data set that a DataLoader takes for an iterable one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch.utils.data import IterableDataset


class Iterable(IterableDataset[Any]):
    """``loader``, whose class need not be torch's own."""

    def __init__(self, loader: Any) -> None:
        self.loader = loader

    def __iter__(self) -> Iterator[Any]:
        return iter(self.loader)
