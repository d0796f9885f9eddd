from __future__ import annotations

from contextlib import closing
from fractions import Fraction

import pytest

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.model import ClipSpec
from pytest_videodecode.production.reading.frame_table import FrameTable, read_frame_table
from pytest_videodecode.production.reading.video_source import VideoSource

TABLE = FrameTable(pts=(10, 12, 15, 20, 25, 31), time_base=Fraction(1, 10))


@pytest.mark.parametrize(
    ("time", "rank"), [("-9", 0), ("1", 0), ("11/10", 0), ("112/100", 1), ("27/10", 4), ("31/10", 5), ("99", 5)]
)
def test_nearest_frame_is_found_and_of_two_the_earlier(time: str, rank: int) -> None:
    assert TABLE.nearest(Fraction(time)) == rank


@pytest.mark.parametrize("recipe", ["av1", "h264:bframes=2:container=ts", "h264:start=10:variable_rate=true"])
def test_a_table_holds_the_times_of_all_frames(clip_cache: ClipCache, recipe: str) -> None:
    clip = clip_cache.clip(ClipSpec.parse(recipe))
    with closing(VideoSource(clip.path).open(None)) as opened:
        table = read_frame_table(*opened.from_start())
    assert table is not None
    assert tuple(pts * table.time_base for pts in table.pts) == clip.times


@pytest.mark.parametrize("recipe", ["h264:container=avi", "vp9:container=webm"])
def test_where_packets_are_no_sure_guide_there_is_no_table(clip_cache: ClipCache, recipe: str) -> None:
    clip = clip_cache.clip(ClipSpec.parse(recipe))
    with closing(VideoSource(clip.path).open(None)) as opened:
        assert opened.facts is None
        assert read_frame_table(*opened.from_start()) is None
