"""What is certain of a damaged file: which frames can only come right, and which cannot come at all.

Of most frames behind damage nothing is certain. FFmpeg's own decoders of H.264, HEVC, MPEG-4 and VP9 conceal: the
picture of an earlier frame stands where the lost one was, or frames decoded from a wrong reference show a number
that never was, and the decoder says nothing. A frame that FFmpeg loses without a word moves those behind it to other
indices, and an index counts the frames that a decode shows. Measured on PyAV 18.1 with single flips in a packet: 3 %
of MPEG-4's pictures and 1 % of AV1's showed another frame's number; with one packet left out, half of all pictures
asked by index. What is certain is what no damaged byte can reach.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from pytest_videodecode.checks.asking import INDEX, TIMELESS, TIMESTAMP
from pytest_videodecode.damage.damage import Damage
from pytest_videodecode.damage.mapping import byte_map, read_bytes
from pytest_videodecode.damage.packets import DropPacket, DuplicatePacket, PacketOperator, SwapPackets
from pytest_videodecode.damage.regions import ByteMap
from pytest_videodecode.model import Clip

#: Demuxers that find the next packet behind whatever they do not understand, without an index.
_SEQUENTIAL = frozenset({"matroska,webm", "mpegts"})

#: Most frames that a decoder of H.264 or HEVC holds back to put them in order.
_REORDERED = 16

_Frames = frozenset[int]


def _both(index: Iterable[int] = (), timestamp: Iterable[int] = ()) -> dict[str, _Frames]:
    return {INDEX: frozenset(index), TIMESTAMP: frozenset(timestamp)}


@dataclass(frozen=True, slots=True)
class Certain:
    """What is certain of a damaged file's frames, of some of them by the way they are asked for (index, timestamp).

    ``kept`` are untouched, and so is all that they are decoded from: a picture in their place shows them. Of those
    ``gone`` nothing is in the file: no picture can come. ``touched`` are those whose own packet was changed or lost.
    """

    kept: dict[str, _Frames] = field(default_factory=_both)
    gone: dict[str, _Frames] = field(default_factory=_both)
    touched: _Frames = frozenset()


def certain(clip: Clip, damage: Damage, copy: bytes) -> Certain:
    """What is certain of ``copy``, the bytes of ``clip`` with ``damage``.

    Nothing is where the clip's packets are not its frames one to one (edit lists, hidden frames), where the clip is
    not intact itself, and where the container's own bytes were changed.
    """
    mapped = byte_map(clip)
    packets = mapped.packets
    if not clip.intact or len(packets) != clip.frames or not all(packet.ranges for packet in packets):
        return Certain()
    if any(isinstance(operator, PacketOperator) for operator in damage.operators):
        return _remuxed(clip, mapped, damage)
    return _rewritten(clip, mapped, copy)


def _remuxed(clip: Clip, mapped: ByteMap, damage: Damage) -> Certain:
    """One packet dropped, duplicated or swapped in a file that is valid again."""
    match damage.operators:
        case (DropPacket(packet=number),):
            gone = _both(timestamp=[mapped.packets[number].order])  # by index those behind take its place
            return _certain(clip, mapped, {number}, gone)
        case (DuplicatePacket(packet=number),):
            found = _certain(clip, mapped, set(range(number, clip.frames)))
            return replace(found, kept=_both(found.kept[INDEX], found.kept[INDEX]))  # those behind come later
        case (SwapPackets(packet=number, other=other),):
            return _certain(clip, mapped, {number, other})
    return Certain()


def _rewritten(clip: Clip, mapped: ByteMap, copy: bytes) -> Certain:
    original = read_bytes(clip)
    size = min(len(original), len(copy))
    changed = np.flatnonzero(np.frombuffer(original, np.uint8, size) != np.frombuffer(copy, np.uint8, size))
    if len(copy) == len(original):
        touched = _touched(mapped, changed.tolist())
        return Certain() if touched is None else _certain(clip, mapped, touched)

    is_cut = len(copy) < len(original) and not changed.size
    first = int(changed[0]) if changed.size else size
    index_stands = mapped.format.startswith("mov,") and all(stop <= first for _, stop in mapped.index)
    if not (is_cut or index_stands or mapped.format in _SEQUENTIAL):
        return Certain()
    lost = [packet.order for packet in mapped.packets if packet.ranges[0][0] >= first] if is_cut else []
    behind = {number for number, packet in enumerate(mapped.packets) if packet.ranges[-1][1] > first}
    return _certain(clip, mapped, behind, _both(range(clip.frames - len(lost), clip.frames), lost))


def _touched(mapped: ByteMap, changed: list[int]) -> set[int] | None:
    """The packets that hold the ``changed`` places of the file; None where one of these is in no packet."""
    touched = set()
    pieces = sorted((*piece, number) for number, packet in enumerate(mapped.packets) for piece in packet.ranges)
    starts = [start for start, _, _ in pieces]
    for place, at in zip(changed, np.searchsorted(starts, changed, side="right").tolist(), strict=True):
        if at == 0 or place >= pieces[at - 1][1]:
            return None
        touched.add(pieces[at - 1][2])
    return touched


def _certain(clip: Clip, mapped: ByteMap, touched: set[int], gone: dict[str, _Frames] | None = None) -> Certain:
    """With these packets touched, in a container that is whole up to them."""
    packets = mapped.packets
    if mapped.format == "mpegts":  # where a packet ends is found by the start of the next one
        touched = touched | {number - 1 for number in touched if number}
    first = min(touched, default=len(packets))
    by_index = range(min((packet.order for packet in packets[first:]), default=len(packets)))
    if touched and _is_reordered(clip, mapped):
        by_index = by_index[:-_REORDERED]  # frames of a damaged GOP may come between those that still wait
    by_time = [packet.order for packet in packets[:first]]
    # only of a generated clip it is known that a keyframe begins anew
    if clip.spec is not None:
        by_time += _of_whole_gops(mapped, touched)
    reached = frozenset(packets[number].order for number in touched)
    return Certain(_both(by_index, by_time), gone or _both(), reached)


def _is_reordered(clip: Clip, mapped: ByteMap) -> bool:
    if clip.container in TIMELESS:  # the order of its packets is not known from their times
        return clip.spec is None or clip.spec.bframes > 0
    return any(packet.order != number for number, packet in enumerate(mapped.packets))


def _of_whole_gops(mapped: ByteMap, touched: set[int]) -> Iterable[int]:
    """Frames of GOPs without a touched packet; leading pictures of an open GOP need the one before: left out."""
    packets = mapped.packets
    starts = [number for number, packet in enumerate(packets) if packet.keyframe]
    for start, stop in pairwise([*starts, len(packets)]):
        if touched.isdisjoint(range(start, stop)):
            yield from (packet.order for packet in packets[start:stop] if packet.order >= packets[start].order)
