"""The map of a video file: which of its bytes are media, index or header, and where each video packet lies."""

from __future__ import annotations

import functools
import io
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import av
import av.container
from av.packet import Packet
from av.stream import Stream

from pytest_videodecode.damage.containers import ElementaryStream, Ranges, TransportStream, avi_index, mp4_index
from pytest_videodecode.errors import DamageError
from pytest_videodecode.model import Clip

#: Regions with a fixed name, simplest first; ``packet:K`` is video packet K, counted from 0.
NAMES = ("media", "any", "keyframes", "after_first", "index", "header")

#: How much of a file's beginning is ``header`` at most, in bytes.
MAX_HEADER = 4096

# What may stand between the place that a demuxer gives for a packet (its block, its chunk) and the packet's bytes.
_MAX_BLOCK_HEADER = 64

#: What PyAV raises on a file that is not what it should be; some of it is not an ``FFmpegError``.
CANNOT_READ = (av.FFmpegError, ValueError, OSError, IndexError, MemoryError)


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
        self.ranges: Ranges = _merged(ranges)
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
                f"{name}: the file has {len(self.packets)} video packets, counted from 0{self._why()}; give a lower one"
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


def read_bytes(clip: Clip) -> bytes:
    """The undamaged bytes of ``clip``.

    Raises:
        DamageError: the file is absent, cannot be read, or is empty.
    """
    try:
        data = Path(clip.path).read_bytes()
    except OSError as error:
        raise DamageError(f"{clip.path}: cannot be read ({error.strerror}); correct the path") from None
    if not data:
        raise DamageError(f"{clip.path}: an empty file, there is nothing to damage; give a video file")
    return data


def byte_map(clip: Clip) -> ByteMap:
    """The map of ``clip``, made once for each content of its file; raises as ``read_bytes`` does."""
    return map_bytes(read_bytes(clip))


@functools.lru_cache(maxsize=8)
def map_bytes(data: bytes) -> ByteMap:
    """The map of the file whose content is ``data``. It is demuxed, never decoded."""
    try:
        with av.open(io.BytesIO(data), metadata_errors="ignore") as source:
            if source.streams.video:
                return _mapped(data, source, source.streams.video[0])
            fault = "no video stream in it"
    except CANNOT_READ as error:
        fault = f"FFmpeg cannot demux it: {type(error).__name__}"
    return ByteMap(size=len(data), first=len(data), fault=fault)


def _mapped(data: bytes, source: av.container.InputContainer, video: Stream) -> ByteMap:
    packets = [packet for packet in source.demux() if packet.size]
    own = [packet for packet in packets if packet.stream_index == video.index]
    kind = source.format.name
    if kind == "mpegts":
        transport = TransportStream(data)
        ranges = _in_transport(transport.payload(video.id), own)
        everything, index = ranges, transport.tables
    else:
        everything = _in_file(data, packets)
        ranges = [each for packet, each in zip(packets, everything, strict=True) if packet.stream_index == video.index]
        index = _index(data, kind, everything)
    orders = _display_order(own)
    return ByteMap(
        size=len(data),
        packets=tuple(
            MappedPacket(ranges=each, order=orders[number], keyframe=own[number].is_keyframe)
            for number, each in enumerate(ranges)
        ),
        index=index,
        first=min((each[0][0] for each in everything if each), default=len(data)),
        format=kind,
    )


def _in_file(data: bytes, packets: list[Packet[Stream]]) -> list[Ranges]:
    """Where each packet lies; one that FFmpeg changed while demuxing lies between its place and the next one's."""
    places = sorted({packet.pos for packet in packets if packet.pos is not None and packet.pos >= 0} | {len(data)})
    found: list[Ranges] = []
    for packet in packets:
        if packet.pos is None or packet.pos < 0:
            found.append(())
            continue
        start = data.find(bytes(packet), packet.pos, packet.pos + packet.size + _MAX_BLOCK_HEADER)
        if start >= 0:
            found.append(((start, start + packet.size),))
        else:
            stop = places[min(bisect_right(places, packet.pos), len(places) - 1)]
            found.append(((packet.pos, stop),) if packet.pos < stop else ())
    return found


def _in_transport(stream: ElementaryStream, packets: list[Packet[Stream]]) -> list[Ranges]:
    found: list[Ranges] = []
    reached = 0
    for packet in packets:
        start = stream.data.find(bytes(packet), reached)
        if start < 0:
            found.append(())
            continue
        reached = start + packet.size
        found.append(stream.in_file(start, reached))
    return found


def _index(data: bytes, kind: str, packets: list[Ranges]) -> Ranges:
    if kind.startswith("mov,"):
        return mp4_index(data)
    if kind == "avi":
        return avi_index(data)
    taken = _merged(piece for ranges in packets for piece in ranges)
    edges = [0, *(edge for piece in taken for edge in piece), len(data)]
    return tuple((start, stop) for start, stop in zip(edges[::2], edges[1::2], strict=True) if start < stop)


def _display_order(packets: list[Packet[Stream]]) -> list[int]:
    """The place of each packet in display order; where a packet has no pts, the order of decoding is taken for it."""
    times = [packet.pts for packet in packets if packet.pts is not None]
    if len(times) < len(packets):
        return list(range(len(packets)))
    shown = sorted(range(len(packets)), key=times.__getitem__)
    orders = [0] * len(packets)
    for order, number in enumerate(shown):
        orders[number] = order
    return orders


def _merged(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """``ranges`` in ascending order, those that touch or overlap made one, empty ones left out."""
    merged: list[tuple[int, int]] = []
    for start, stop in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(stop, merged[-1][1])
        elif start < stop:
            merged.append((start, stop))
    return tuple(merged)
