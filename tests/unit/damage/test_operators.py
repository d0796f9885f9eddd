from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_videodecode.damage.base import Context, Operator
from pytest_videodecode.damage.mapping import byte_map, read_bytes
from pytest_videodecode.damage.operators import (
    Burst,
    DamageHeader,
    FlipBits,
    FlipBytes,
    Insert,
    Scatter,
    Splice,
    Truncate,
    Zero,
)
from pytest_videodecode.damage.regions import ByteMap, MappedPacket
from pytest_videodecode.errors import DamageError
from pytest_videodecode.model import Clip

DATA = bytes(range(100))
#: Media at 10 to 20 and 40 to 50, a header before it.
MAP = ByteMap(
    size=100,
    packets=(MappedPacket(((10, 20),), 0, keyframe=True), MappedPacket(((40, 50),), 1, keyframe=False)),
    first=10,
)


def no_other(text: str) -> bytes:
    raise AssertionError(f"{text}: no other clip is needed")


def damaged(operator: Operator, data: bytes = DATA, other: Callable[[str], bytes] = no_other) -> bytes:
    return operator.apply(data, Context(map=MAP, other=other))


def differing(after: bytes, before: bytes = DATA) -> list[int]:
    assert len(after) == len(before)
    return [place for place, pair in enumerate(zip(after, before, strict=True)) if pair[0] != pair[1]]


def test_flip_bytes_applies_each_mask_at_its_offset_of_the_region() -> None:
    after = damaged(FlipBytes(flips=((0, 0xFF), (10, 1))))
    assert differing(after) == [10, 40]
    assert (after[10], after[40]) == (10 ^ 0xFF, 40 ^ 1)


def test_flip_bits_counts_bits_from_the_least_significant() -> None:
    after = damaged(FlipBits(region="packet:1", bits=(0, 15)))
    assert differing(after) == [40, 41]
    assert (after[40], after[41]) == (40 ^ 1, 41 ^ 0x80)


def test_scatter_flips_as_many_bytes_as_it_says() -> None:
    assert differing(damaged(Scatter(count=20))) == [*range(10, 20), *range(40, 50)]
    assert len(differing(damaged(Scatter(region="any", count=37, seed=5)))) == 37


def test_fewer_scattered_flips_are_the_first_of_the_same() -> None:
    few = differing(damaged(Scatter(region="any", count=5, seed=1)))
    more = differing(damaged(Scatter(region="any", count=6, seed=1)))
    assert set(few) < set(more)
    assert differing(damaged(Scatter(region="any", count=5, seed=2))) != few


def test_seeded_damage_is_the_same_with_every_python() -> None:
    scattered = damaged(Scatter(region="any", count=3, seed=1))
    assert {place: scattered[place] for place in differing(scattered)} == {17: 17 ^ 146, 97: 97 ^ 17, 32: 32 ^ 31}
    assert damaged(Burst(region="any", offset=0, length=4, seed=1))[:4] == bytes.fromhex("f5b16522")


def test_zero_and_burst_run_on_in_the_next_range_of_the_region() -> None:
    zeroed = damaged(Zero(offset=8, length=4))
    assert differing(zeroed) == [18, 19, 40, 41]
    assert {zeroed[place] for place in (18, 19, 40, 41)} == {0}
    burst = damaged(Burst(offset=8, length=4, seed=3))
    assert set(differing(burst)) <= {18, 19, 40, 41}
    assert burst != DATA
    assert burst == damaged(Burst(offset=8, length=4, seed=3))
    assert burst != damaged(Burst(offset=8, length=4, seed=4))


def test_damage_header_writes_a_big_endian_word() -> None:
    after = damaged(DamageHeader(offset=2, word=0x01020304))
    assert after[2:6] == bytes([1, 2, 3, 4])
    assert after[:2] + after[6:] == DATA[:2] + DATA[6:]


def test_insert_makes_the_file_longer_at_one_place() -> None:
    after = damaged(Insert(offset=10, length=7, seed=1))
    assert after[:40] == DATA[:40]
    assert after[47:] == DATA[40:]
    assert len(after) == 107


@pytest.mark.parametrize(
    ("operator", "kept"),
    [
        (Truncate(keep_bytes=0), 0),
        (Truncate(keep_bytes=33), 33),
        (Truncate(keep_bytes=100), 100),
        (Truncate(keep_fraction=0.6), 60),
        (Truncate(keep_fraction=0), 0),
    ],
)
def test_truncate_keeps_the_beginning(operator: Truncate, kept: int) -> None:
    assert damaged(operator) == DATA[:kept]


def test_splice_goes_on_in_the_other_clip_at_the_same_share() -> None:
    asked = []

    def other(text: str) -> bytes:
        asked.append(text)
        return b"x" * 40

    assert damaged(Splice(other="h264:texture=1", fraction=0.25), other=other) == DATA[:25] + b"x" * 30
    assert asked == ["h264:texture=1"]


@pytest.mark.parametrize(
    "operator",
    [
        FlipBytes(flips=((0, 1), (15, 1))),
        FlipBits(bits=(0, 8 * 15)),
        Zero(offset=5, length=10),
        Burst(offset=5, length=10),
        Scatter(count=20),
        DamageHeader(region="packet:0", offset=4, word=1),
    ],
)
def test_places_beyond_the_end_of_a_cut_file_are_left_alone(operator: Operator) -> None:
    whole = damaged(operator)
    assert damaged(operator, DATA[:16]) == whole[:16]
    assert damaged(operator, b"") == b""


def test_insert_beyond_the_end_of_a_cut_file_does_nothing() -> None:
    assert damaged(Insert(offset=10, length=4), DATA[:40]) == DATA[:40]


@pytest.mark.parametrize(
    ("operator", "message"),
    [
        (FlipBytes(flips=((20, 1),)), "flip_bytes: offset 20 is outside region 'media', which has 20 bytes"),
        (FlipBits(bits=(160,)), "flip_bits: offset 20 is outside region 'media', which has 20 bytes"),
        (Scatter(count=21), "scatter: 21 bytes at offset 0 are outside region 'media', which has 20 bytes"),
        (Burst(offset=19, length=2), "burst: 2 bytes at offset 19 are outside region 'media', which has 20 bytes"),
        (Zero(offset=0, length=2**40), "zero: 1099511627776 bytes at offset 0 are outside region 'media', which"),
        (Insert(offset=20, length=1), "insert: offset 20 is outside region 'media', which has 20 bytes"),
        (DamageHeader(offset=7), "damage_header: 4 bytes at offset 7 are outside region 'header', which has 10 bytes"),
        (Truncate(keep_bytes=101), "truncate: cannot keep 101 bytes of a file that has 100"),
        (Zero(region="packet:2", offset=0, length=1), "packet:2: the file has 2 video packets"),
        (Zero(region="index", offset=0, length=1), "region 'index' has no bytes in this file; aim at another"),
    ],
)
def test_damage_that_does_not_fit_the_clip_is_refused_in_one_line(operator: Operator, message: str) -> None:
    with pytest.raises(DamageError) as caught:
        damaged(operator)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FlipBytes(flips=()), "one at least"),
        (lambda: FlipBytes(flips=((0, 0),)), "mask is outside 1 to 255"),
        (lambda: FlipBytes(flips=((-1, 1),)), "offset is outside 0 to"),
        (lambda: FlipBytes(flips=((0, 1, 2),)), "pairs of offset and mask"),  # type: ignore[arg-type]
        (lambda: FlipBits(bits=()), "one at least"),
        (lambda: FlipBits(bits=(2**41,)), "bit is outside 0 to"),
        (lambda: Scatter(count=0), "count is outside 1 to"),
        (lambda: Scatter(count=1, seed=-1), "seed is outside 0 to"),
        (lambda: Burst(offset=0, length=0), "length is outside 1 to"),
        (lambda: Zero(offset=-5, length=1), "offset is outside 0 to"),
        (lambda: Zero(region="moov", offset=0, length=1), "unknown region 'moov'"),
        (lambda: Insert(offset=0, length=2**21), "length is outside 1 to 1048576"),
        (lambda: DamageHeader(offset=0, word=2**32), "word is outside 0 to 4294967295"),
        (Truncate, "keep_bytes or keep_fraction, one of them"),
        (lambda: Truncate(keep_bytes=1, keep_fraction=0.5), "keep_bytes or keep_fraction, one of them"),
        (lambda: Truncate(keep_fraction=1.0), "keep_fraction is 1; give 0 to below 1"),
        (lambda: Truncate(keep_fraction=float("nan")), "keep_fraction is nan; give 0 to below 1"),
        (lambda: Splice(other="h264", fraction=-0.5), "fraction is -0.5; give 0 to below 1"),
        (lambda: Zero(op="burst", offset=0, length=1), "op is 'burst', not 'zero'"),
    ],
)
def test_values_that_fit_no_clip_are_refused(make: Callable[[], Operator], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("operator", "text"),
    [
        (FlipBytes(flips=((0, 1), (5, 2), (9, 4))), "flip 3 bytes in media"),
        (FlipBytes(region="packet:3", flips=((0, 1),)), "flip 1 byte in packet:3"),
        (FlipBits(region="keyframes", bits=(1, 2)), "flip 2 bits in keyframes"),
        (Scatter(count=200, seed=7), "flip 200 scattered bytes in media (seed 7)"),
        (Burst(offset=100, length=64), "64 random bytes at 100 in media (seed 0)"),
        (Zero(region="index", offset=8, length=4), "zero 4 bytes at 8 in index"),
        (DamageHeader(offset=28, word=0xFFFFFFFF), "put 0xffffffff at 28 in header"),
        (Insert(region="any", offset=5, length=1), "insert 1 byte at 5 in any (seed 0)"),
        (Truncate(keep_fraction=0.6), "keep the first 60% of the file"),
        (Truncate(keep_bytes=1234), "keep the first 1234 bytes of the file"),
        (Splice(other="av1:texture=1"), "the first 50% of the file, then the rest of av1:texture=1"),
    ],
)
def test_an_operator_prints_short(operator: Operator, text: str) -> None:
    assert str(operator) == text


@pytest.mark.parametrize(
    "operator",
    [
        FlipBytes(flips=((0, 1), (700, 255))),
        FlipBits(region="packet:5", bits=(0, 77)),
        Scatter(count=50, seed=1),
        Burst(region="keyframes", offset=10, length=200),
        Zero(region="after_first", offset=10, length=200),
        DamageHeader(offset=0, word=0),
        Zero(region="index", offset=0, length=40),
        Insert(offset=300, length=10),
        Truncate(keep_fraction=0.6),
    ],
    ids=str,
)
def test_operators_damage_every_container_only_where_they_aim(clip: Clip, operator: Operator) -> None:
    data, mapped = read_bytes(clip), byte_map(clip)
    context = Context(map=mapped, other=no_other)
    after = operator.apply(data, context)
    assert after != data
    assert after == operator.apply(data, context)
    if len(after) == len(data):
        aimed = mapped.region(getattr(operator, "region")).ranges  # noqa: B009
        assert all(any(start <= place < stop for start, stop in aimed) for place in differing(after, data))
