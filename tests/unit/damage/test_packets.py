from __future__ import annotations

import io
from fractions import Fraction
from pathlib import Path

import av
import pytest

from pytest_videodecode.damage.base import Context
from pytest_videodecode.damage.mapping import byte_map, map_bytes, read_bytes
from pytest_videodecode.damage.packets import DropPacket, DuplicatePacket, PacketOperator, SwapPackets
from pytest_videodecode.damage.remux import can_remux
from pytest_videodecode.errors import DamageError
from pytest_videodecode.model import Clip


def applied(operator: PacketOperator, clip: Clip) -> bytes:
    return operator.apply(read_bytes(clip), Context(map=byte_map(clip), other=lambda text: b""))


def packets(data: bytes) -> list[tuple[bytes, Fraction | None]]:
    """(content, the time in seconds that the container stores, None where it stores none) of each video packet."""
    with av.open(io.BytesIO(data), "r") as source:
        name = {"avi": "", "matroska,webm": "pts"}.get(source.format.name, "dts")
        unit = source.streams.video[0].time_base or Fraction(0)
        kept = [each for each in source.demux(source.streams.video[0]) if each.size]
        times = [getattr(each, name) if name else None for each in kept]
        return [(bytes(each), None if time is None else time * unit) for each, time in zip(kept, times, strict=True)]


def contents(data: bytes) -> list[bytes]:
    return [content for content, _ in packets(data)]


def test_a_dropped_packet_is_gone_and_the_others_keep_their_times(clip: Clip) -> None:
    before, after = packets(read_bytes(clip)), packets(applied(DropPacket(packet=5), clip))
    assert after == before[:5] + before[6:]


def test_a_duplicated_packet_comes_twice_and_those_behind_come_later(clip: Clip) -> None:
    data = read_bytes(clip)
    before, after = packets(data), packets(applied(DuplicatePacket(packet=5), clip))
    assert [content for content, _ in after] == [content for content, _ in before[:6] + before[5:]]
    assert after[:6] == before[:6]
    for (_, earlier), (_, later) in zip(before[5:], after[6:], strict=True):
        if earlier is not None and later is not None:
            assert later - earlier == pytest.approx(1 / 30, abs=1e-3)


def test_swapped_packets_stand_in_each_others_place_and_time(clip: Clip) -> None:
    before, after = packets(read_bytes(clip)), packets(applied(SwapPackets(packet=4, other=7), clip))
    order = [0, 1, 2, 3, 7, 5, 6, 4, *range(8, 12)]
    assert [content for content, _ in after] == [before[number][0] for number in order]
    assert [time for _, time in after] == [time for _, time in before]


@pytest.mark.parametrize(
    "operator", [DropPacket(packet=0), DuplicatePacket(packet=11), SwapPackets(packet=0, other=1)]
)
def test_first_and_last_packet_can_be_meant(clip: Clip, operator: PacketOperator) -> None:
    after = contents(applied(operator, clip))
    assert after != contents(read_bytes(clip))
    assert set(after) <= set(contents(read_bytes(clip)))


@pytest.mark.parametrize(
    "operator", [DropPacket(packet=12), DuplicatePacket(packet=12), SwapPackets(packet=0, other=12)]
)
def test_a_packet_that_is_not_there_is_refused(mp4: Clip, operator: PacketOperator) -> None:
    with pytest.raises(DamageError) as caught:
        applied(operator, mp4)
    assert str(caught.value) == f"{operator.op}: the file has 12 video packets, counted from 0, no 12"


def test_two_packets_are_needed_for_a_swap() -> None:
    with pytest.raises(ValueError, match="packet and other are the same; give two"):
        SwapPackets(packet=3, other=3)
    with pytest.raises(ValueError, match="packet is outside 0 to"):
        DropPacket(packet=-1)


def test_packet_operators_print_short() -> None:
    assert str(DropPacket(packet=3)) == "drop packet 3"
    assert str(DuplicatePacket(packet=3)) == "duplicate packet 3"
    assert str(SwapPackets(packet=3, other=9)) == "swap packets 3 and 9"


def test_real_files_are_edited_wherever_they_can_be_muxed(real_clips: Path) -> None:
    edited = 0
    for path in sorted(real_clips.iterdir()):
        data = path.read_bytes()
        if path.suffix in (".tsv", ".mts", ".obu") or not can_remux(data):
            continue
        before = len(contents(data))
        if before < 3:
            continue
        context = Context(map=map_bytes(data), other=lambda text: b"")
        assert len(contents(DropPacket(packet=1).apply(data, context))) == before - 1, path
        assert len(contents(DuplicatePacket(packet=1).apply(data, context))) == before + 1, path
        assert len(contents(SwapPackets(packet=1, other=2).apply(data, context))) == before, path
        edited += 1
    assert edited > 15
