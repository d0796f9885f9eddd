"""Readers: which frame a picture shows, from its pixels alone."""

from __future__ import annotations

import base64
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_videodecode.clips import marks, reference
from pytest_videodecode.clips.truth import Truth

#: How far, in mean grey levels over the grid, a picture may be from the reference and still be that frame: enough
#: for another rounding, chroma filter or resizing, and for a slightly wrong colour matrix; not for another scene.
TOLERANCE = 6.0
#: Two frames whose distances from a picture differ by no more than this are equally near to it.
TIE = 0.5


class MarkReader:
    """Reads the marks of a synthetic clip of ``width`` x ``height``, resized since or not."""

    def __init__(self, width: int, height: int) -> None:
        self._size = (width, height)

    def __call__(self, frames: Any, expected: Sequence[int]) -> list[int | None]:
        """The number drawn into each picture; no two are alike, so ``expected`` is not needed."""
        return marks.read(frames, self._size)


class ReferenceReader:
    """Finds pictures among the frames of a real file: by digest, else by the nearest signature."""

    def __init__(self, truth: Truth) -> None:
        self._numbers: defaultdict[str, list[int]] = defaultdict(list)
        for number, digest in enumerate(truth.digests):
            self._numbers[digest].append(number)
        packed = b"".join(map(base64.b85decode, truth.signatures))
        self._signatures = np.frombuffer(packed, np.uint8).reshape(-1, reference.GRID**2).astype(np.int16)

    def __call__(self, frames: Any, expected: Sequence[int]) -> list[int | None]:
        """The frame that each picture shows.

        Pixels equal to a frame's mean that frame. Else the frame whose signature is nearest, if within
        ``TOLERANCE``; ``expected`` wins over a frame that is nearer by no more than ``TIE``.
        """
        return [self._number(picture, wish) for picture, wish in zip(frames, expected, strict=True)]

    def _number(self, picture: NDArray[np.uint8], expected: int) -> int | None:
        if same := self._numbers.get(reference.digest(picture)):
            return expected if expected in same else min(same, key=lambda number: abs(number - expected))
        if not len(self._signatures):
            return None
        distances = np.abs(self._signatures - reference.signature(picture[None]).astype(np.int16)).mean(axis=1)
        nearest = int(distances.argmin())
        if 0 <= expected < len(distances) and distances[expected] <= distances[nearest] + TIE:
            nearest = expected
        return nearest if distances[nearest] <= TOLERANCE else None
