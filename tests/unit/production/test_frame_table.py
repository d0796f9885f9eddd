from __future__ import annotations

import dataclasses
from collections.abc import Callable
from fractions import Fraction

import pytest

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.model import ClipSpec
from pytest_videodecode.production.frame_table import FrameTable, Misfit, frames_from, read_frame_table
from pytest_videodecode.production.video_source import VideoSource

TABLE = FrameTable(pts=(10, 12, 15, 20, 25, 31), keyframes=((10, 8), (15, 11), (25, None)), time_base=Fraction(1, 10))


@pytest.mark.parametrize(
    ("time", "rank"), [("-9", 0), ("1", 0), ("11/10", 0), ("112/100", 1), ("27/10", 4), ("31/10", 5), ("99", 5)]
)
def test_nearest_frame_is_found_and_of_two_the_earlier(time: str, rank: int) -> None:
    assert TABLE.nearest(Fraction(time)) == rank


@pytest.mark.parametrize(
    ("rank", "targets"), [(0, [10, 8]), (1, [10, 8]), (3, [15, 11, 10, 8]), (5, [25, 15, 11, 10, 8])]
)
def test_seeks_go_to_the_keyframe_before_a_frame_then_further_back(rank: int, targets: list[int]) -> None:
    assert TABLE.seek_targets(rank) == targets


@pytest.mark.parametrize("recipe", ["av1", "h264:bframes=2:container=ts", "h264:start=10:variable_rate=true"])
def test_a_table_holds_the_times_of_all_frames_and_the_keyframes(clip_cache: ClipCache, recipe: str) -> None:
    clip = clip_cache.clip(ClipSpec.parse(recipe))
    with VideoSource(clip.path).open(None) as (container, stream):
        table = read_frame_table(container, stream)
    assert table is not None
    assert tuple(pts * table.time_base for pts in table.pts) == clip.times
    assert tuple(table.ranks[pts] for pts, _ in table.keyframes) == clip.keyframes


@pytest.mark.parametrize("recipe", ["h264:container=avi", "vp9:container=webm"])
def test_where_packets_are_no_sure_guide_there_is_no_table(clip_cache: ClipCache, recipe: str) -> None:
    clip = clip_cache.clip(ClipSpec.parse(recipe))
    with VideoSource(clip.path).open(None) as (container, stream):
        assert read_frame_table(container, stream) is None


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(lambda pts: pts, id="as it is"),
        pytest.param(lambda pts: (*pts[:19], pts[19] - 1, *pts[19:]), id="a frame more"),
        pytest.param(lambda pts: (*pts[:19], *pts[20:]), id="a frame less"),
    ],
)
def test_frames_that_are_not_those_of_the_table_do_not_count(
    clip_cache: ClipCache, edit: Callable[[tuple[int, ...]], tuple[int, ...]]
) -> None:
    clip = clip_cache.clip(ClipSpec(codec="h264"))
    with VideoSource(clip.path).open(None) as (container, stream):
        table = read_frame_table(container, stream)
        assert table is not None
        edited = dataclasses.replace(table, pts=edit(table.pts))
        frames = frames_from(container, stream, edited, 18)
        if edited == table:
            assert [(rank, frame.pts) for rank, frame in frames] == list(enumerate(table.pts))[16:]
        else:
            with pytest.raises(Misfit):
                list(frames)


def test_a_seek_that_lands_on_a_later_keyframe_is_followed_by_one_further_back(
    clip_cache: ClipCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    clip = clip_cache.clip(ClipSpec(codec="h264"))
    with VideoSource(clip.path).open(None) as (container, stream):
        table = read_frame_table(container, stream)
        assert table is not None
        later = table.pts[40]
        monkeypatch.setattr(FrameTable, "seek_targets", lambda table, rank: [later, table.pts[8]])
        assert next(rank for rank, _ in frames_from(container, stream, table, 20)) == 8
        monkeypatch.setattr(FrameTable, "seek_targets", lambda table, rank: [later])
        with pytest.raises(Misfit):
            next(frames_from(container, stream, table, 20))
