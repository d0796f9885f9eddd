"""Where a container keeps its own bytes: walks over the boxes of mp4, the chunks of AVI, the packets of MPEG-TS.

The files walked here are undamaged, but real: a walk ends quietly where the structure does.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator

#: Byte ranges ``(start, stop)`` of a file, ascending.
Ranges = tuple[tuple[int, int], ...]

_BOX = struct.Struct(">I4s")
_LARGE_SIZE = struct.Struct(">Q")
_CHUNK = struct.Struct("<4sI")
_PADDING = {b"free", b"skip", b"wide"}

_TS_PACKET = 188
_TS_SYNC = 0x47
_TS_NULL = 0x1FFF
_START_CODE = b"\0\0\1"


def mp4_boxes(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """The top-level boxes as (type, start, stop); ISO/IEC 14496-12, 4.2."""
    at = 0
    while at + _BOX.size <= len(data):
        size, kind = _BOX.unpack_from(data, at)
        if size == 1 and at + 16 <= len(data):
            (size,) = _LARGE_SIZE.unpack_from(data, at + _BOX.size)
        stop = len(data) if size == 0 else at + size
        if stop < at + _BOX.size:
            return
        yield kind, at, min(stop, len(data))
        at = stop


def mp4_index(data: bytes) -> Ranges:
    """Every top-level box that is neither media nor padding: ftyp, moov, moof, sidx, mfra …"""
    return tuple((start, stop) for kind, start, stop in mp4_boxes(data) if kind not in _PADDING | {b"mdat"})


def avi_index(data: bytes) -> Ranges:
    """Every chunk outside ``movi`` but padding, headers included: those of ``hdrl``, ``INFO`` and ``idx1``."""
    return tuple(_avi_chunks(data, 0, len(data)))


def _avi_chunks(data: bytes, at: int, stop: int) -> Iterator[tuple[int, int]]:
    while at + _CHUNK.size <= stop:
        kind, size = _CHUNK.unpack_from(data, at)
        body, end = at + _CHUNK.size, min(at + _CHUNK.size + size, stop)
        if kind in (b"RIFF", b"LIST"):
            if data[body : body + 4] != b"movi":
                yield from _avi_chunks(data, body + 4, end)
        elif kind != b"JUNK":
            yield at, end
        at = end + size % 2  # chunks begin at even places


class TransportStream:
    """An MPEG transport stream taken apart: tables, and the payload of each elementary stream (ISO/IEC 13818-1).

    ``tables`` are the packets of PAT, PMT and the like: of every PID that carries no elementary stream.
    """

    def __init__(self, data: bytes) -> None:
        pieces: dict[int, list[tuple[int, int]]] = defaultdict(list)
        tables: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for pid, starts_unit, start, payload, stop in _ts_packets(data):
            if starts_unit and data[payload : payload + 3] == _START_CODE and payload + 8 < stop:
                pieces[pid].append((min(payload + 9 + data[payload + 8], stop), stop))
            elif pid in pieces:
                pieces[pid].append((payload, stop))
            elif pid != _TS_NULL:
                tables[pid].append((start, stop))
        self._pieces = pieces
        of_tables = (ranges for pid, ranges in tables.items() if pid not in pieces)
        self.tables: Ranges = tuple(sorted(piece for ranges in of_tables for piece in ranges))
        self._data = data

    def payload(self, pid: int) -> ElementaryStream:
        """The elementary stream of ``pid``, without the headers of transport and PES packets."""
        return ElementaryStream(self._data, self._pieces.get(pid, []))


class ElementaryStream:
    """The bytes of one stream, and where in the file each of them lies."""

    def __init__(self, data: bytes, pieces: list[tuple[int, int]]) -> None:
        self.data = b"".join(data[start:stop] for start, stop in pieces)
        self._pieces = pieces
        self._offsets = [0]
        for start, stop in pieces:
            self._offsets.append(self._offsets[-1] + stop - start)

    def in_file(self, start: int, stop: int) -> Ranges:
        """The ranges of the file that hold bytes ``start`` to ``stop`` of the stream."""
        found = []
        number = bisect_right(self._offsets, start) - 1
        while number < len(self._pieces) and self._offsets[number] < stop:
            shift = self._pieces[number][0] - self._offsets[number]
            found.append((max(start, self._offsets[number]) + shift, min(stop, self._offsets[number + 1]) + shift))
            number += 1
        return tuple(found)


def _ts_packets(data: bytes) -> Iterator[tuple[int, bool, int, int, int]]:
    """(PID, whether a PES packet or table starts in it, start, start of the payload, stop) of each packet with one."""
    first, stride = _ts_layout(data)
    for start in range(first, len(data) - _TS_PACKET + 1, stride):
        if data[start] != _TS_SYNC:
            continue
        control = data[start + 3]
        payload = start + 4 + (1 + data[start + 4] if control & 0x20 else 0)
        if control & 0x10 and payload < start + _TS_PACKET:
            pid = (data[start + 1] & 0x1F) << 8 | data[start + 2]
            yield pid, bool(data[start + 1] & 0x40), start, payload, start + _TS_PACKET


def _ts_layout(data: bytes) -> tuple[int, int]:
    """Where the first packet starts, and how far it is to the next: 188 bytes, 192 on discs, 204 on air."""
    hits = {
        (first, stride): Counter(data[first : first + 64 * stride : stride])[_TS_SYNC]
        for first, stride in ((0, _TS_PACKET), (4, 192), (0, 204))
    }
    return max(hits, key=lambda layout: hits[layout])
