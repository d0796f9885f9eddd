from __future__ import annotations

import struct

from pytest_videodecode.damage.containers import TransportStream, avi_index, mp4_boxes, mp4_index


def box(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I4s", 8 + len(body), kind) + body


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack("<4sI", kind, len(body)) + body + bytes(len(body) % 2)


def ts_packet(pid: int, payload: bytes, *, starts: bool = False) -> bytes:
    stuffing = 184 - len(payload)
    adaptation = bytes([stuffing - 1, *([0] if stuffing > 1 else []), *([0xFF] * (stuffing - 2))]) if stuffing else b""
    control = 0x30 if stuffing else 0x10
    return bytes([0x47, (0x40 if starts else 0) | pid >> 8, pid & 0xFF, control]) + adaptation + payload


def pes(body: bytes, header: bytes = b"") -> bytes:
    return b"\0\0\1\xe0\0\0\x80\0" + bytes([len(header)]) + header + body


def test_mp4_boxes_follow_one_another_to_the_end() -> None:
    data = box(b"ftyp", b"isom") + box(b"free", b"") + box(b"mdat", b"12345") + box(b"moov", b"abc")
    assert [(kind, data[start:stop]) for kind, start, stop in mp4_boxes(data)] == [
        (b"ftyp", box(b"ftyp", b"isom")),
        (b"free", box(b"free", b"")),
        (b"mdat", box(b"mdat", b"12345")),
        (b"moov", box(b"moov", b"abc")),
    ]


def test_mp4_box_may_have_a_64_bit_size_or_reach_to_the_end() -> None:
    large = struct.pack(">I4sQ", 1, b"mdat", 20) + b"1234"
    last = struct.pack(">I4s", 0, b"moov") + b"abc"
    assert [(kind, start, stop) for kind, start, stop in mp4_boxes(large + last)] == [
        (b"mdat", 0, 20),
        (b"moov", 20, 31),
    ]


def test_mp4_walk_ends_at_a_size_that_cannot_be() -> None:
    assert list(mp4_boxes(box(b"ftyp", b"") + struct.pack(">I4s", 3, b"moov") + b"abc")) == [(b"ftyp", 0, 8)]
    assert list(mp4_boxes(b"short")) == []


def test_mp4_index_is_neither_media_nor_padding() -> None:
    data = box(b"ftyp", b"isom") + box(b"free", b"xx") + box(b"mdat", b"12345") + box(b"moov", b"abc")
    assert b"".join(data[start:stop] for start, stop in mp4_index(data)) == box(b"ftyp", b"isom") + box(
        b"moov", b"abc"
    )


def test_avi_index_is_every_chunk_but_movi_and_padding() -> None:
    header = chunk(b"LIST", b"hdrl" + chunk(b"avih", b"abc") + chunk(b"JUNK", b"xxxx"))
    media = chunk(b"LIST", b"movi" + chunk(b"00dc", b"12345"))
    data = chunk(b"RIFF", b"AVI " + header + media + chunk(b"idx1", b"iiii"))
    found = [data[start:stop] for start, stop in avi_index(data)]
    assert found == [chunk(b"avih", b"abc")[:-1], chunk(b"idx1", b"iiii")]


def test_transport_stream_gives_payload_without_headers_and_where_it_lies() -> None:
    first = ts_packet(256, pes(b"A" * 100, header=b"time!"), starts=True)
    table = ts_packet(0, b"\0table", starts=True)
    more = ts_packet(256, b"B" * 184)
    data = first + table + more
    stream = TransportStream(data).payload(256)
    assert stream.data == b"A" * 100 + b"B" * 184
    assert b"".join(data[a:b] for a, b in stream.in_file(99, 102)) == b"ABB"
    assert len(stream.in_file(99, 102)) == 2


def test_tables_are_the_packets_of_pids_without_elementary_stream() -> None:
    table = ts_packet(0, b"\0table", starts=True)
    null = ts_packet(0x1FFF, b"\xff" * 184)
    data = table + ts_packet(256, pes(b"A"), starts=True) + null + table
    assert TransportStream(data).tables == ((0, 188), (564, 752))


def test_packets_of_discs_have_four_bytes_in_front() -> None:
    packets = [ts_packet(256, pes(b"A" * 50), starts=True), ts_packet(256, b"B" * 184)]
    stream = TransportStream(b"".join(b"\0\0\0\0" + packet for packet in packets)).payload(256)
    assert stream.data == b"A" * 50 + b"B" * 184


def test_unknown_pid_has_no_bytes() -> None:
    assert TransportStream(ts_packet(256, pes(b"A"), starts=True)).payload(257).data == b""
