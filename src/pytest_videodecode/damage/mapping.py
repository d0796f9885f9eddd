"""From a video file to its map: packets come from FFmpeg's demuxer, the index from the container's own structure."""

from __future__ import annotations

import functools
import io
from bisect import bisect_right
from pathlib import Path
from typing import Any

import av
import av.container
from av.packet import Packet
from av.stream import Stream

from pytest_videodecode.damage.containers import ElementaryStream, Ranges, TransportStream, avi_index, mp4_index
from pytest_videodecode.damage.regions import ByteMap, MappedPacket, merged
from pytest_videodecode.errors import DamageError
from pytest_videodecode.model import Clip

# What may stand between the place that a demuxer gives for a packet (its block, its chunk) and the packet's bytes.
_MAX_BLOCK_HEADER = 64

#: What PyAV raises on a file that is not what it should be; some of it is not an ``FFmpegError``.
CANNOT_READ = (av.FFmpegError, ValueError, OSError, IndexError, MemoryError)


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


def open_bytes(data: bytes) -> av.container.InputContainer:
    """A demuxer of the file whose content is ``data``."""
    # tags may be in any encoding; before PyAV 19, which has no such argument, reading them strictly raises
    lenient: dict[str, Any] = {"metadata_errors": "replace"} if int(av.__version__.split(".")[0]) < 19 else {}
    source: av.container.InputContainer = av.open(io.BytesIO(data), "r", **lenient)
    return source


@functools.lru_cache(maxsize=8)
def map_bytes(data: bytes) -> ByteMap:
    """The map of the file whose content is ``data``, by demuxing it.

    No decoder is opened here; FFmpeg itself may decode a first frame, in one thread, to learn what a stream is.
    """
    try:
        with open_bytes(data) as source:
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
    taken = merged(piece for ranges in packets for piece in ranges)
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
