"""What a peer is: a reader that is measured, behind one small protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.decode.cells import Request
from pytest_videodecode.errors import VideodecodeError

Frames = NDArray[np.uint8]


class Missing(VideodecodeError):
    """A peer that is not here, or cannot read the cell's clips; the message is the one line that says why."""


class NoFfmpeg(Missing):
    """A peer that is here and finds no FFmpeg that it can load."""


class Peer(Protocol):
    """A reader, opened for one cell."""

    #: What a reader of the table should know, such as the mode that was found to be the faster one.
    note: str

    def prepare(self, request: Request) -> None:
        """Whatever must not be timed; nothing for all but the floor."""

    def decode(self, path: str, indices: Sequence[int]) -> Frames:
        """The frames at ``indices``, ``uint8 (N,H,W,3)`` RGB."""

    def close(self) -> None:
        """Give up what is open."""


class Function:
    """A peer that opens the file anew at each call."""

    def __init__(self, decode: Callable[[str, Sequence[int]], Frames], note: str = "") -> None:
        self.decode = decode
        self.note = note

    def prepare(self, request: Request) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing is open."""


class Kept:
    """A peer that keeps one reader per file."""

    def __init__(
        self, open_: Callable[[str], Any], ask: Callable[[Any, Sequence[int]], Frames], note: str = ""
    ) -> None:
        self.note = note
        self._open = open_
        self._ask = ask
        self._readers: dict[str, Any] = {}

    def prepare(self, request: Request) -> None:
        """Nothing."""

    def decode(self, path: str, indices: Sequence[int]) -> Frames:
        """By the reader of ``path``, opened when it is asked for first."""
        if path not in self._readers:
            self._readers[path] = self._open(path)
        return self._ask(self._readers[path], indices)

    def close(self) -> None:
        """Drop the readers."""
        self._readers.clear()
