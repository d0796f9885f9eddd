from __future__ import annotations

import pytest

from pytest_videodecode.damage.regions import ByteMap, MappedPacket, Region, merged, packet_number
from pytest_videodecode.errors import DamageError

#: 100 bytes: a header of 10, then packets of 20, 30 (in two pieces) and 5 bytes.
MAP = ByteMap(
    size=100,
    packets=(
        MappedPacket(ranges=((10, 30),), order=0, keyframe=True),
        MappedPacket(ranges=((40, 50), (60, 80)), order=2, keyframe=False),
        MappedPacket(ranges=((80, 85),), order=1, keyframe=True),
    ),
    index=((0, 10), (90, 100)),
    first=10,
)


@pytest.mark.parametrize(
    ("name", "ranges"),
    [
        ("any", ((0, 100),)),
        ("media", ((10, 30), (40, 50), (60, 85))),
        ("index", ((0, 10), (90, 100))),
        ("header", ((0, 10),)),
        ("packet:1", ((40, 50), (60, 80))),
        ("keyframes", ((10, 30), (80, 85))),
        ("after_first", ((40, 50), (60, 85))),
    ],
)
def test_region_has_the_ranges_its_name_says(name: str, ranges: tuple[tuple[int, int], ...]) -> None:
    region = MAP.region(name)
    assert region.ranges == ranges
    assert region.size == sum(stop - start for start, stop in ranges)


def test_positions_run_through_all_ranges_in_order() -> None:
    region = MAP.region("packet:1")
    assert [region.position(offset) for offset in range(region.size)] == [*range(40, 50), *range(60, 80)]


@pytest.mark.parametrize(
    ("offset", "length", "ranges"),
    [
        (0, 10, ((40, 50),)),
        (0, 11, ((40, 50), (60, 61))),
        (9, 21, ((49, 50), (60, 80))),
        (10, 1, ((60, 61),)),
        (3, 0, ()),
    ],
)
def test_span_is_cut_at_the_borders_of_ranges(offset: int, length: int, ranges: tuple[tuple[int, int], ...]) -> None:
    assert MAP.region("packet:1").span(offset, length) == ranges


def test_header_is_no_longer_than_4_kib() -> None:
    assert ByteMap(size=9000, first=8000).region("header").ranges == ((0, 4096),)


def test_present_names_only_regions_with_bytes() -> None:
    assert MAP.present() == ("media", "any", "keyframes", "after_first", "index", "header")
    assert ByteMap(size=5).present() == ("any",)


def test_packet_knows_its_place_and_size() -> None:
    assert (MAP.packets[1].pos, MAP.packets[1].size) == (40, 30)
    assert MappedPacket(ranges=(), order=0, keyframe=False).pos is None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mdat", "unknown region 'mdat'; known are media, any, keyframes, after_first, index, header and packet:K"),
        ("packet:", "unknown region 'packet:'"),
        ("packet:-1", "unknown region 'packet:-1'"),
        ("packet:1x", "unknown region 'packet:1x'"),
        ("packet:3", "packet:3: the file has 3 video packets; they are counted from 0"),
    ],
)
def test_region_that_cannot_be_is_refused_in_one_line(name: str, message: str) -> None:
    with pytest.raises(DamageError) as caught:
        MAP.region(name)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_region_without_bytes_is_refused_with_the_reason() -> None:
    with pytest.raises(
        DamageError, match=r"region 'media' has no bytes in this file \(no video stream in it\); aim at"
    ):
        ByteMap(size=5, fault="no video stream in it").region("media")


def test_packet_number_is_none_for_named_regions() -> None:
    assert packet_number("packet:12") == 12
    assert packet_number("media") is None


def test_merged_ranges_ascend_and_do_not_touch() -> None:
    assert merged([(5, 8), (0, 2), (2, 5), (20, 20), (10, 15), (12, 13)]) == ((0, 8), (10, 15))


def test_size_of_a_region_without_ranges_is_0() -> None:
    assert Region("media", ()).size == 0
