"""Operators on bytes: small printable values that damage a file, most of them aimed at a region of it."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from pytest_videodecode.damage.base import MAX_SEED, Aimed, Context, Operator, counted, share, within
from pytest_videodecode.damage.regions import Region
from pytest_videodecode.errors import DamageError

#: Most bytes that one operator inserts, and most places that one ``scatter`` flips.
MAX_INSERTED = MAX_SCATTERED = 2**20
MAX_WORD = 2**32 - 1


@dataclass(frozen=True, kw_only=True, slots=True)
class FlipBytes(Aimed):
    """XOR bytes: ``flips`` are pairs of an offset in the region and a mask of 1 to 255."""

    op: str = field(default="flip_bytes", repr=False)
    flips: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        Aimed.__post_init__(self)
        if not self.flips or any(len(flip) != 2 for flip in self.flips):
            raise ValueError("flips are pairs of offset and mask, one at least")
        for offset, mask in self.flips:
            within("offset", offset, 0)
            within("mask", mask, 1, 255)

    def _change(self, data: bytearray, region: Region) -> None:
        for offset, mask in self.flips:
            self._inside(region, offset)
            _flip(data, region.position(offset), mask)

    def __str__(self) -> str:
        return f"flip {counted(len(self.flips), 'byte')} in {self.region}"


@dataclass(frozen=True, kw_only=True, slots=True)
class FlipBits(Aimed):
    """Flip single bits: bit ``8 * offset + k`` of the region, k counted from the least significant one."""

    op: str = field(default="flip_bits", repr=False)
    bits: tuple[int, ...]

    def __post_init__(self) -> None:
        Aimed.__post_init__(self)
        if not self.bits:
            raise ValueError("bits are numbers of bits, one at least")
        for bit in self.bits:
            within("bit", bit, 0)

    def _change(self, data: bytearray, region: Region) -> None:
        for bit in self.bits:
            self._inside(region, bit // 8)
            _flip(data, region.position(bit // 8), 1 << bit % 8)

    def __str__(self) -> str:
        return f"flip {counted(len(self.bits), 'bit')} in {self.region}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Scatter(Aimed):
    """Flip ``count`` different bytes at random; a lower count flips the first of the same places."""

    op: str = field(default="scatter", repr=False)
    count: int
    seed: int = 0

    def __post_init__(self) -> None:
        Aimed.__post_init__(self)
        within("count", self.count, 1, MAX_SCATTERED)
        within("seed", self.seed, 0, MAX_SEED)

    def _change(self, data: bytearray, region: Region) -> None:
        self._inside(region, 0, self.count)
        source = random.Random(self.seed)
        flipped: set[int] = set()
        while len(flipped) < self.count:
            offset, mask = source.randrange(region.size), source.randrange(1, 256)
            if offset not in flipped:
                flipped.add(offset)
                _flip(data, region.position(offset), mask)

    def __str__(self) -> str:
        return f"flip {counted(self.count, 'scattered byte')} in {self.region} (seed {self.seed})"


@dataclass(frozen=True, kw_only=True, slots=True)
class Burst(Aimed):
    """Overwrite ``length`` bytes from ``offset`` on with random ones."""

    op: str = field(default="burst", repr=False)
    offset: int
    length: int
    seed: int = 0

    def __post_init__(self) -> None:
        Aimed.__post_init__(self)
        within("offset", self.offset, 0)
        within("length", self.length, 1)
        within("seed", self.seed, 0, MAX_SEED)

    def _change(self, data: bytearray, region: Region) -> None:
        self._inside(region, self.offset, self.length)
        self._overwrite(data, region, self.offset, random.Random(self.seed).randbytes(self.length))

    def __str__(self) -> str:
        return f"{counted(self.length, 'random byte')} at {self.offset} in {self.region} (seed {self.seed})"


@dataclass(frozen=True, kw_only=True, slots=True)
class Zero(Aimed):
    """Overwrite ``length`` bytes from ``offset`` on with 0."""

    op: str = field(default="zero", repr=False)
    offset: int
    length: int

    def __post_init__(self) -> None:
        Aimed.__post_init__(self)
        within("offset", self.offset, 0)
        within("length", self.length, 1)

    def _change(self, data: bytearray, region: Region) -> None:
        self._inside(region, self.offset, self.length)
        self._overwrite(data, region, self.offset, bytes(self.length))

    def __str__(self) -> str:
        return f"zero {counted(self.length, 'byte')} at {self.offset} in {self.region}"


@dataclass(frozen=True, kw_only=True, slots=True)
class DamageHeader(Aimed):
    """Put a 32-bit ``word`` (big-endian) at ``offset``: where headers keep sizes and counts, 0 or 0xffffffff hurts."""

    op: str = field(default="damage_header", repr=False)
    region: str = "header"
    offset: int
    word: int = 0

    def __post_init__(self) -> None:
        Aimed.__post_init__(self)
        within("offset", self.offset, 0)
        within("word", self.word, 0, MAX_WORD)

    def _change(self, data: bytearray, region: Region) -> None:
        self._overwrite(data, region, self.offset, self.word.to_bytes(4, "big"))

    def __str__(self) -> str:
        return f"put {self.word:#x} at {self.offset} in {self.region}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Insert(Aimed):
    """Insert ``length`` random bytes before byte ``offset`` of the region."""

    op: str = field(default="insert", repr=False)
    offset: int
    length: int
    seed: int = 0

    def __post_init__(self) -> None:
        Aimed.__post_init__(self)
        within("offset", self.offset, 0)
        within("length", self.length, 1, MAX_INSERTED)
        within("seed", self.seed, 0, MAX_SEED)

    def _change(self, data: bytearray, region: Region) -> None:
        self._inside(region, self.offset)
        at = region.position(self.offset)
        if at < len(data):
            data[at:at] = random.Random(self.seed).randbytes(self.length)

    def __str__(self) -> str:
        return f"insert {counted(self.length, 'byte')} at {self.offset} in {self.region} (seed {self.seed})"


@dataclass(frozen=True, kw_only=True, slots=True)
class Truncate(Operator):
    """Keep the beginning of the file: ``keep_bytes`` of it, or the share ``keep_fraction`` (0 to below 1)."""

    op: str = field(default="truncate", repr=False)
    keep_bytes: int | None = None
    keep_fraction: float | None = None

    def __post_init__(self) -> None:
        Operator.__post_init__(self)
        if (self.keep_bytes is None) == (self.keep_fraction is None):
            raise ValueError("give keep_bytes or keep_fraction, one of them")
        if self.keep_bytes is not None:
            within("keep_bytes", self.keep_bytes, 0)
        if self.keep_fraction is not None:
            share("keep_fraction", self.keep_fraction)

    def apply(self, data: bytes, context: Context) -> bytes:
        size = context.map.size
        if self.keep_fraction is not None:
            return data[: int(size * self.keep_fraction)]
        if self.keep_bytes is not None and self.keep_bytes > size:
            raise DamageError(f"{self.op}: cannot keep {self.keep_bytes} bytes of a file that has {size}")
        return data[: self.keep_bytes]

    def __str__(self) -> str:
        if self.keep_fraction is not None:
            return f"keep the first {100 * self.keep_fraction:g}% of the file"
        return f"keep the first {counted(self.keep_bytes or 0, 'byte')} of the file"


@dataclass(frozen=True, kw_only=True, slots=True)
class Splice(Operator):
    """The first ``fraction`` (0 to below 1) of this file, then of the clip with recipe text ``other`` the rest."""

    op: str = field(default="splice", repr=False)
    other: str
    fraction: float = 0.5

    def __post_init__(self) -> None:
        Operator.__post_init__(self)
        share("fraction", self.fraction)

    def apply(self, data: bytes, context: Context) -> bytes:
        other = context.other(self.other)
        return data[: int(context.map.size * self.fraction)] + other[int(len(other) * self.fraction) :]

    def __str__(self) -> str:
        return f"the first {100 * self.fraction:g}% of the file, then the rest of {self.other}"


def _flip(data: bytearray, position: int, mask: int) -> None:
    if position < len(data):
        data[position] ^= mask
