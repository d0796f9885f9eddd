from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_videodecode.damage.mapping import byte_map, map_bytes, open_bytes, read_bytes
from pytest_videodecode.errors import DamageError
from pytest_videodecode.model import Clip


def demuxed(data: bytes) -> list[Any]:
    with open_bytes(data) as source:
        return [packet for packet in source.demux(source.streams.video[0]) if packet.size]


def content(data: bytes, ranges: tuple[tuple[int, int], ...]) -> bytes:
    return b"".join(data[start:stop] for start, stop in ranges)


def test_every_packet_is_found_with_its_very_bytes(clip: Clip) -> None:
    data, mapped = read_bytes(clip), byte_map(clip)
    packets = demuxed(data)
    assert len(packets) == 12
    assert [content(data, packet.ranges) for packet in mapped.packets] == [bytes(packet) for packet in packets]
    assert [packet.keyframe for packet in mapped.packets] == [packet.is_keyframe for packet in packets]
    assert mapped.region("media").size == sum(packet.size for packet in packets)


def test_packets_come_in_file_order_and_know_their_display_order(clip: Clip) -> None:
    packets = byte_map(clip).packets
    places = [packet.pos for packet in packets]
    assert places == sorted(places, key=lambda place: place or 0)
    by_display = sorted(range(12), key=lambda number: packets[number].order)
    assert sorted(packet.order for packet in packets) == list(range(12))
    if clip.spec and clip.spec.bframes:
        assert by_display != list(range(12))
    assert list(clip.keyframes) == sorted(p.order for p in packets if p.keyframe)


def test_index_and_media_never_overlap(clip: Clip) -> None:
    mapped = byte_map(clip)
    index = {place for start, stop in mapped.region("index").ranges for place in range(start, stop)}
    media = {place for start, stop in mapped.region("media").ranges for place in range(start, stop)}
    assert index
    assert not index & media


@pytest.mark.parametrize("name", ["mp4", "mp4-moov-at-end"])
def test_mp4_media_is_what_the_sample_table_says(small_clips: dict[str, Clip], name: str) -> None:
    data = read_bytes(small_clips[name])
    table = data.index(b"stsz") + 4
    uniform, count = struct.unpack_from(">II", data, table + 4)
    sizes = struct.unpack_from(f">{count}I", data, table + 12)
    (first,) = struct.unpack_from(">I", data, data.index(b"stco") + 12)
    packets = byte_map(small_clips[name]).packets
    assert uniform == 0
    assert [packet.size for packet in packets] == list(sizes)
    assert packets[0].pos == first


@pytest.mark.parametrize("name", ["mp4", "mp4-moov-at-end", "mp4-fragmented"])
def test_mp4_index_holds_moov_and_no_mdat(small_clips: dict[str, Clip], name: str) -> None:
    data = read_bytes(small_clips[name])
    index = content(data, byte_map(small_clips[name]).index)
    assert b"moov" in index
    assert b"mdat" not in index
    assert index.count(b"moof") == (3 if name == "mp4-fragmented" else 0)


def test_matroska_packets_follow_the_header_of_their_block(small_clips: dict[str, Clip]) -> None:
    data = read_bytes(small_clips["mkv"])
    mapped = byte_map(small_clips["mkv"])
    index = content(data, mapped.index)
    assert b"matroska" in index
    assert bytes.fromhex("1c53bb6b") in index, "the ID of Cues"
    for packet in mapped.packets:
        assert packet.pos is not None
        assert data[packet.pos - 4] == 0x81, "track 1, as an EBML number"


def test_avi_packets_are_whole_chunks(small_clips: dict[str, Clip]) -> None:
    data = read_bytes(small_clips["avi"])
    mapped = byte_map(small_clips["avi"])
    for packet in mapped.packets:
        assert packet.pos is not None
        assert data[packet.pos - 8 : packet.pos] == struct.pack("<4sI", b"00dc", packet.size)
    index = content(data, mapped.index)
    assert b"idx1" in index
    assert b"avih" in index
    assert b"JUNK" not in index


def test_transport_stream_packets_leave_its_headers_out(small_clips: dict[str, Clip]) -> None:
    data = read_bytes(small_clips["ts"])
    mapped = byte_map(small_clips["ts"])
    headers = {place for start in range(0, len(data), 188) for place in range(start, start + 4)}
    media = {place for start, stop in mapped.region("media").ranges for place in range(start, stop)}
    assert not media & headers
    tables = [data[start : start + 188] for start, _ in mapped.index]
    assert {(table[1] & 0x1F) << 8 | table[2] for table in tables} == {0, 17, 4096}, "PAT, SDT, PMT"


@pytest.mark.parametrize("name", ["mp4", "mkv", "webm", "ts", "avi"])
def test_header_ends_where_the_first_packet_starts(small_clips: dict[str, Clip], name: str) -> None:
    mapped = byte_map(small_clips[name])
    ((start, stop),) = mapped.region("header").ranges
    assert start == 0
    assert stop <= min(mapped.packets[0].pos or 0, 4096)


def test_a_map_is_made_once_for_each_content(mp4: Clip) -> None:
    assert byte_map(mp4) is byte_map(mp4)
    assert map_bytes(read_bytes(mp4)[:-1]) is not byte_map(mp4)


@pytest.mark.parametrize("data", [b"no video at all", b"RIFF\0\0\0\0WAVE", bytes(1000)])
def test_what_cannot_be_demuxed_still_has_bytes(data: bytes) -> None:
    mapped = map_bytes(data)
    assert mapped.fault
    assert mapped.region("any").size == len(data)
    with pytest.raises(DamageError, match="region 'media' has no bytes in this file"):
        mapped.region("media")


def test_absent_and_empty_clips_are_named(mp4: Clip, tmp_path: Path) -> None:
    with pytest.raises(DamageError, match=r"gone.mp4: cannot be read \(No such file or directory\); correct the path"):
        byte_map(replace(mp4, path=str(tmp_path / "gone.mp4")))
    empty = tmp_path / "empty.mp4"
    empty.touch()
    with pytest.raises(DamageError, match=r"empty.mp4: an empty file, there is nothing to damage; give a video file"):
        byte_map(replace(mp4, path=str(empty)))


def test_packets_of_real_files_are_found(real_clips: Path) -> None:
    looked_at = 0
    for path in sorted(real_clips.iterdir()):
        # the demuxer of .obu leaves bytes out of packets, so they are not in the file as such
        if path.suffix in (".tsv", ".obu"):
            continue
        data = path.read_bytes()
        packets = map_bytes(data).packets
        assert [content(data, packet.ranges) for packet in packets] == [bytes(packet) for packet in demuxed(data)], (
            path
        )
        looked_at += len(packets)
    assert looked_at > 1000


def test_packets_that_ffmpeg_changed_span_their_place_in_the_file(real_clips: Path) -> None:
    mapped = map_bytes((real_clips / "av1-argon-12bit-thread-mismatch.obu").read_bytes())
    assert all(packet.size for packet in mapped.packets)
    assert mapped.packets[0].ranges[0][1] == mapped.packets[1].pos
    assert mapped.region("media").size > 0.99 * mapped.size
