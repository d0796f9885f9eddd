"""The map of a video file as a value: its video packets, and its regions by name."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

from pytest_videodecode.damage.containers import Ranges
from pytest_videodecode.errors import DamageError

#: Regions with a fixed name, simplest first; ``packet:K`` is video packet K, counted from 0.
NAMES = ("media", "any", "keyframes", "after_first", "index", "header")

#: How much of a file's beginning is ``header`` at most, in bytes.
MAX_HEADER = 4096


def packet_number(region: str) -> int | None:
    """K where ``region`` is ``packet:K``, None where it is one of ``NAMES``.

    Raises:
        ValueError: for any other text.
    """
    kind, _, number = region.partition(":")
    if kind == "packet" and number.isascii() and number.isdigit() and len(number) < 10:
        return int(number)
    if region not in NAMES:
        raise ValueError(f"unknown region {region[:40]!r}; known are {', '.join(NAMES)} and packet:K")
    return None


class Region:
    """Bytes of a file, counted from 0 through all ranges of the region: offset → position."""

    def __init__(self, name: str, ranges: Iterable[tuple[int, int]]) -> None:
        self.name = name
        self.ranges: Ranges = merged(ranges)
        self._ends = list(accumulate(stop - start for start, stop in self.ranges))

    @property
    def size(self) -> int:
        """How many bytes the region has."""
        return self._ends[-1] if self._ends else 0

    def position(self, offset: int) -> int:
        """Where in the file byte ``offset`` of the region lies."""
        number = bisect_right(self._ends, offset)
        return self.ranges[number][1] - (self._ends[number] - offset)

    def span(self, offset: int, length: int) -> Ranges:
        """The ranges of the file under ``length`` bytes of the region from ``offset`` on."""
        found = []
        while length > 0:
            start = self.position(offset)
            taken = min(length, self.ranges[bisect_right(self._ends, offset)][1] - start)
            found.append((start, start + taken))
            offset, length = offset + taken, length - taken
        return tuple(found)


@dataclass(frozen=True, slots=True)
class MappedPacket:
    """A video packet: the ranges of the file that hold it, its place in display order, whether it is a keyframe."""

    ranges: Ranges
    order: int
    keyframe: bool

    @property
    def pos(self) -> int | None:
        """Where its bytes start in the file; None where they do not stand there as the demuxer gives them."""
        return self.ranges[0][0] if self.ranges else None

    @property
    def size(self) -> int:
        """How many bytes of the file hold it."""
        return sum(stop - start for start, stop in self.ranges)


@dataclass(frozen=True, slots=True)
class ByteMap:
    """The map of one undamaged file of ``size`` bytes.

    ``packets`` are those of the first video stream in file order, which is the order of decoding; ``format`` is the
    name of FFmpeg's demuxer; ``first`` is where the first packet of any stream starts; ``fault`` says why nothing
    is mapped, where FFmpeg cannot demux the file. Regions: ``any`` byte; ``media``, the bytes of video packets;
    ``index``, the container's own bytes (mp4: every box but mdat and padding; AVI: every chunk outside movi; MPEG-TS:
    the packets with tables; others: everything outside packets); ``header``, the first bytes up to the first packet
    or 4 KiB; ``packet:K``; ``keyframes``; ``after_first``, all video packets but the first.
    """

    size: int
    packets: tuple[MappedPacket, ...] = ()
    index: Ranges = ()
    first: int = 0
    format: str = ""
    fault: str = ""

    def region(self, name: str) -> Region:
        """The region called ``name``, which has at least one byte.

        Raises:
            DamageError: an unknown region, a packet number that is too high, a region without bytes in this file.
        """
        try:
            number = packet_number(name)
        except ValueError as error:
            raise DamageError(str(error)) from None
        if number is not None and number >= len(self.packets):
            raise DamageError(
                f"{name}: the file has {len(self.packets)} video packets{self._why()}; they are counted from 0"
            )
        region = Region(name, self._ranges(name, number))
        if not region.size:
            raise DamageError(f"region {name!r} has no bytes in this file{self._why()}; aim at another, such as 'any'")
        return region

    def present(self) -> tuple[str, ...]:
        """Those of ``NAMES`` that have bytes in this file."""
        return tuple(name for name in NAMES if Region(name, self._ranges(name, None)).size)

    def _ranges(self, name: str, number: int | None) -> Iterable[tuple[int, int]]:
        if number is not None:
            return self.packets[number].ranges
        match name:
            case "any":
                return ((0, self.size),)
            case "index":
                return self.index
            case "header":
                return ((0, min(self.first, MAX_HEADER)),)
            case "keyframes":
                chosen: Iterable[MappedPacket] = (packet for packet in self.packets if packet.keyframe)
            case "after_first":
                chosen = self.packets[1:]
            case _:
                chosen = self.packets
        return (piece for packet in chosen for piece in packet.ranges)

    def _why(self) -> str:
        return f" ({self.fault})" if self.fault else ""


def merged(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """``ranges`` in ascending order, those that touch or overlap made one, empty ones left out."""
    merged: list[tuple[int, int]] = []
    for start, stop in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(stop, merged[-1][1])
        elif start < stop:
            merged.append((start, stop))
    return tuple(merged)
