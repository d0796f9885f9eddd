"""What is measured: a codec, GOP, size, pattern and thread count, with the clips and requests that belong to it."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.model import ClipSpec

FRAMES = 300
RATE = 20

#: Quality of each codec's clips; AV1 at GOP 2 then has about 13 KB a frame at 256x256, as camera pictures have.
QUALITY = {"av1": 38, "h264": 23, "hevc": 28}


@dataclass(frozen=True, slots=True)
class Pattern:
    """Frames that a training sample takes of each of its cameras: ``count`` of them, ``stride`` apart."""

    count: int
    stride: int
    cameras: int

    @property
    def span(self) -> int:
        """Frames from the first one to the last one, both counted."""
        return (self.count - 1) * self.stride + 1


PATTERNS = {
    "window": Pattern(count=9, stride=4, cameras=2),
    "sarm": Pattern(count=8, stride=RATE, cameras=1),  # one second apart
    "single": Pattern(count=1, stride=1, cameras=1),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """One column of the table: all peers answer the same requests in it."""

    codec: str
    gop: int
    width: int
    height: int
    pattern: str
    threads: int

    @property
    def group(self) -> str:
        """The cells of one group differ by their pattern only."""
        return f"{self.codec} g={self.gop} {self.width}x{self.height} threads={self.threads}"

    @property
    def name(self) -> str:
        """The group and the pattern."""
        return f"{self.group} {self.pattern}"


#: A request: for each camera the file and the frame indices.
Request = Sequence[tuple[str, Sequence[int]]]


def clips(cache: ClipCache, cell: Cell) -> list[str]:
    """The file of each camera, made now if it is not in the cache."""
    spec = {
        "codec": cell.codec,
        "gop": cell.gop,
        "width": cell.width,
        "height": cell.height,
        "frames": FRAMES,
        "rate": Fraction(RATE),
        "quality": QUALITY.get(cell.codec),
    }
    cameras = range(PATTERNS[cell.pattern].cameras)
    return [cache.clip(ClipSpec(texture=camera, **spec)).path for camera in cameras]  # type: ignore[arg-type]


def requests(pattern: Pattern, paths: Sequence[str], count: int, seed: int = 0, frames: int = FRAMES) -> list[Request]:
    """``count`` requests with random starts, the same for the same seed."""
    rng = random.Random(seed)
    asked: list[Request] = []
    for _ in range(count):
        first = rng.randrange(frames - pattern.span + 1)
        indices = tuple(range(first, first + pattern.span, pattern.stride))
        asked.append([(path, indices) for path in paths])
    return asked


def bytes_per_frame(path: str) -> float:
    """Mean size of a frame in the file, in bytes."""
    return os.path.getsize(path) / FRAMES
