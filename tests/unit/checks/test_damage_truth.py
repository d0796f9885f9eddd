from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_videodecode.checks.asking import INDEX, TIMESTAMP, Ask
from pytest_videodecode.checks.damage_set import damage_set
from pytest_videodecode.checks.damage_truth import Certain, certain
from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.clips.catalogue import CATALOGUE
from pytest_videodecode.damage.damage import AnyOperator, Damage, damaged_bytes, write_damaged
from pytest_videodecode.damage.mapping import byte_map
from pytest_videodecode.damage.operators import FlipBytes, Insert, Splice, Truncate, Zero
from pytest_videodecode.damage.packets import DropPacket, DuplicatePacket, SwapPackets
from pytest_videodecode.decoders.spec import parse
from pytest_videodecode.errors import DamageError
from pytest_videodecode.isolation.pool import Workers
from pytest_videodecode.model import Clip, ClipSpec

NOTHING = Certain()


@pytest.fixture(scope="module")
def h264(clip_cache: ClipCache) -> Clip:
    """48 frames, GOPs of 8, packets in display order."""
    return clip_cache.clip(ClipSpec(codec="h264"))


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers() as workers:
        yield workers


def truth(clip: Clip, *operators: AnyOperator) -> Certain:
    damage = Damage(operators)
    return certain(clip, damage, damaged_bytes(clip, damage))


def flipped(packet: int) -> FlipBytes:
    return FlipBytes(region=f"packet:{packet}", flips=((5, 255),))


def test_flip_leaves_what_is_shown_before_it_and_by_time_the_other_gops(h264: Clip) -> None:
    found = truth(h264, flipped(20))
    assert found.touched == {20}
    assert found.kept[INDEX] == set(range(20))
    assert found.kept[TIMESTAMP] == set(range(48)) - {20, 21, 22, 23}
    assert not found.gone[INDEX]
    assert not found.gone[TIMESTAMP]


def test_nothing_touched_leaves_all(h264: Clip) -> None:
    found = truth(h264)
    assert found.kept[INDEX] == found.kept[TIMESTAMP] == set(range(48))


def test_frames_behind_a_cut_are_gone(h264: Clip) -> None:
    packets = byte_map(h264).packets
    assert packets[30].pos is not None
    found = truth(h264, Truncate(keep_bytes=packets[30].pos + 1))
    assert found.kept[INDEX] == found.kept[TIMESTAMP] == set(range(30))
    assert found.gone[INDEX] == found.gone[TIMESTAMP] == set(range(31, 48))


def test_insertion_and_splice_leave_only_what_comes_before(h264: Clip) -> None:
    for found in (
        truth(h264, Insert(region="packet:9", offset=3, length=7)),
        truth(h264, Splice(other="h264:texture=1")),
    ):
        assert found.kept[INDEX] == found.kept[TIMESTAMP]
        assert found.kept[INDEX] == set(range(len(found.kept[INDEX])))
        assert 0 < len(found.kept[INDEX]) < 48
        assert not found.gone[INDEX]


def test_dropped_frame_is_gone_by_time_and_moves_the_others_by_index(h264: Clip) -> None:
    found = truth(h264, DropPacket(packet=20))
    assert found.gone == {INDEX: frozenset(), TIMESTAMP: frozenset({20})}
    assert found.kept[INDEX] == set(range(20))
    assert 24 in found.kept[TIMESTAMP]


def test_duplicate_moves_the_times_behind_it(h264: Clip) -> None:
    found = truth(h264, DuplicatePacket(packet=20))
    assert found.kept[INDEX] == found.kept[TIMESTAMP] == set(range(20))


def test_swap_touches_both(h264: Clip) -> None:
    found = truth(h264, SwapPackets(packet=3, other=17))
    assert found.touched == {3, 17}
    assert found.kept[TIMESTAMP] == set(range(48)) - set(range(3, 8)) - set(range(16, 24))


@pytest.mark.parametrize(
    "operators",
    [
        (FlipBytes(region="index", flips=((30, 1),)),),
        (Zero(region="header", offset=4, length=4),),
        (DropPacket(packet=3), DropPacket(packet=9)),
        (DropPacket(packet=3), FlipBytes(flips=((0, 1),))),
    ],
)
def test_nothing_is_certain_behind_a_changed_container_or_mixed_damage(
    h264: Clip, operators: tuple[AnyOperator, ...]
) -> None:
    assert truth(h264, *operators) == NOTHING


def test_nothing_is_certain_of_a_clip_that_is_damaged_itself_or_shows_other_than_its_packets(h264: Clip) -> None:
    assert truth(replace(h264, intact=False), flipped(20)) == NOTHING
    assert truth(replace(h264, times=h264.times[:-1]), flipped(20)) == NOTHING


def test_later_gops_of_a_real_file_are_not_certain(h264: Clip) -> None:
    assert truth(replace(h264, spec=None), flipped(20)).kept[TIMESTAMP] == set(range(20))


def test_index_behind_the_pictures_moves_with_an_insertion(clip_cache: ClipCache) -> None:
    clip = clip_cache.clip(ClipSpec(codec="av1", faststart=False))
    assert truth(clip, Insert(region="packet:9", offset=1, length=7)) == NOTHING


def test_packet_before_the_damage_is_not_certain_in_mpegts(clip_cache: ClipCache) -> None:
    clip = clip_cache.clip(ClipSpec(codec="h264", container="ts"))
    assert truth(clip, flipped(20)).touched == {19, 20}


def test_frames_that_wait_to_be_shown_are_not_certain_by_index(clip_cache: ClipCache) -> None:
    for clip in (clip_cache.clip(ClipSpec(codec="h264", bframes=2)), clip_cache.clip(CATALOGUE["h264-bframes-avi"])):
        assert max(truth(clip, flipped(40)).kept[INDEX]) < 25


@pytest.mark.parametrize("name", ["av1", "h264", "hevc", "mpeg4", "vp9", "h264-bframes-ts", "h264-bframes-avi"])
def test_what_is_certain_is_what_a_plain_decode_shows(
    clip_cache: ClipCache, workers: Workers, tmp_path: Path, name: str
) -> None:
    clip = clip_cache.clip(CATALOGUE[name])
    by = INDEX if clip.container == "avi" else TIMESTAMP
    kept = 0
    for damage in damage_set(clip, seed=7):
        try:
            path = write_damaged(clip, damage, tmp_path)
        except DamageError:
            continue
        found = certain(clip, damage, path.read_bytes())
        asked = sorted(found.kept[by])[::5]
        if asked:
            request = replace(Ask("kept", tuple(asked), by).request(clip), path=str(path))
            outcome = workers.decode(parse("pyav"), request)
            pictures = outcome.frames if outcome.frames is not None else ()
            assert clip.read(pictures, asked[: len(pictures)]) == asked[: len(pictures)] if len(pictures) else True
            kept += outcome.count
        for gone in sorted(found.gone[by])[:1]:
            request = replace(Ask("gone", (gone,), by).request(clip), path=str(path))
            assert workers.decode(parse("pyav"), request).count == 0
    assert kept > 40
