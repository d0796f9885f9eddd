"""What is sought, read and decoded for a request: no more than it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import sequential

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.model import Clip, ClipSpec
from pytest_videodecode.production import video_io
from pytest_videodecode.production.decoder_cache import DecoderCache
from pytest_videodecode.production.reading import clip_reader, open_clip
from pytest_videodecode.production.reading.passage import Passage
from pytest_videodecode.production.reading.video_source import PYAV_MAJOR
from pytest_videodecode.production.video_io import decode_video_frames

needs_index = pytest.mark.skipif(PYAV_MAJOR < 17, reason="PyAV shows the container's index from 17 on")


@dataclass
class Work:
    """What has been done since the last reset."""

    seeks: int = 0
    decoded: int = 0
    tables: int = 0
    starts: int = 0

    def reset(self) -> None:
        self.seeks = self.decoded = self.tables = self.starts = 0


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    done = Work()

    def counted(owner: Any, name: str, what: str) -> None:
        function: Callable[..., Any] = getattr(owner, name)

        def counting(*arguments: Any, **options: Any) -> Any:
            setattr(done, what, getattr(done, what) + 1)
            return function(*arguments, **options)

        monkeypatch.setattr(owner, name, counting)

    counted(clip_reader.ClipReader, "_land", "seeks")
    counted(Passage, "_feed", "decoded")
    counted(open_clip, "read_frame_table", "tables")
    counted(video_io, "_from_start", "starts")
    return done


@pytest.fixture
def cache() -> Iterator[DecoderCache]:
    with DecoderCache() as cache:
        yield cache


def ask(clip: Clip, asked: list[int], by: str = "index", **options: Any) -> None:
    if by == "index":
        frames = decode_video_frames(clip.path, frame_indices=asked, **options)
    else:
        frames = decode_video_frames(clip.path, [float(clip.times[number]) for number in asked], **options)
    assert clip.read(frames, asked) == asked


def fewest(clip: Clip, asked: list[int]) -> int:
    """Frames that lie between a keyframe and the last frame asked before the next one."""
    keyframes = [*clip.keyframes, clip.frames]
    spans = pairwise(keyframes)
    return sum(max(i for i in asked if a <= i < b) - a + 1 for a, b in spans if any(a <= i < b for i in asked))


@needs_index
@pytest.mark.parametrize("by", ["index", "time"])
@pytest.mark.parametrize("recipe", ["av1:gop=2", "av1:gop=8", "h264:gop=2", "h264:gop=8", "mpeg4", "hevc:bframes=0"])
@pytest.mark.parametrize("asked", [[5], [6, 10, 14, 18, 22, 26, 30, 34, 38], [1, 21, 41], [7, 8, 9]], ids=str)
def test_no_frame_is_decoded_that_need_not_be(
    clip_cache: ClipCache, work: Work, recipe: str, asked: list[int], by: str
) -> None:
    clip = clip_cache.clip(ClipSpec.parse(recipe))
    ask(clip, asked, by, threads=1)
    assert work.decoded == fewest(clip, asked)
    assert work.seeks <= len(asked)
    assert work.tables == work.starts == 0


@needs_index
@pytest.mark.parametrize("recipe", ["h264:bframes=2", "hevc:bframes=3:open_gop=true", "h264:start=10:bframes=2"])
def test_frames_shown_in_another_order_than_decoded_need_no_pass_over_the_file(
    clip_cache: ClipCache, work: Work, cache: DecoderCache, recipe: str
) -> None:
    clip = clip_cache.clip(ClipSpec.parse(recipe))
    for number in range(clip.frames):
        ask(clip, [number], threads=1, decoder_cache=cache)
    assert work.tables == work.starts == 0
    assert work.decoded < 16 * clip.frames


@pytest.mark.parametrize("container", ["mkv", "ts", "mp4"])
def test_times_of_frames_are_found_without_a_pass_over_the_file(
    clip_cache: ClipCache, work: Work, cache: DecoderCache, container: str
) -> None:
    clip = clip_cache.clip(ClipSpec(codec="h264", container=container))
    ask(clip, [30], "time", decoder_cache=cache)
    ask(clip, [3, 7, 40], "time", decoder_cache=cache)
    assert work.tables == work.starts == 0


@pytest.mark.parametrize("container", ["mkv", "ts"])
def test_where_there_is_no_index_the_file_is_passed_over_once_while_it_is_open(
    clip_cache: ClipCache, work: Work, cache: DecoderCache, container: str
) -> None:
    clip = clip_cache.clip(ClipSpec(codec="h264", container=container))
    for number in (30, 5, 47):
        ask(clip, [number], decoder_cache=cache)
    assert (work.tables, work.starts) == (1, 0)


def test_a_request_behind_the_last_goes_on_where_that_stopped(
    clip_cache: ClipCache, work: Work, cache: DecoderCache
) -> None:
    clip = clip_cache.clip(ClipSpec(codec="av1", gop=16))
    ask(clip, [18], "time", threads=1, decoder_cache=cache)
    work.reset()
    for number in (19, 20, 24):
        ask(clip, [number], "time", threads=1, decoder_cache=cache)
    assert (work.seeks, work.decoded) == (0, 6)
    ask(clip, [24], "time", threads=1, decoder_cache=cache)
    assert work.seeks == 1


@needs_index
def test_a_variable_rate_is_not_taken_for_a_constant_one(clip_cache: ClipCache, work: Work) -> None:
    clip = clip_cache.clip(ClipSpec.parse("h264:variable_rate=true"))
    shown = sequential.decode(clip.path)
    for number in (0, 13, 40):
        frame = decode_video_frames(clip.path, frame_indices=[number])[0]
        np.testing.assert_array_equal(frame, shown.pictures[number])
    assert work.starts == 0
    assert work.tables


def test_times_between_frames_need_no_pass_over_the_file_where_one_is_clearly_nearest(
    clip_cache: ClipCache, work: Work
) -> None:
    clip = clip_cache.clip(ClipSpec(codec="h264"))
    asked = [float(clip.times[number]) + 0.01 for number in (3, 9, 47)]
    frames = decode_video_frames(clip.path, asked, tolerance_s=0.015)
    assert clip.read(frames, [3, 9, 47]) == [3, 9, 47]
    assert work.tables == work.starts == 0
    halfway: Any = (clip.times[3] + clip.times[4]) / 2
    assert clip.read(decode_video_frames(clip.path, [halfway], tolerance_s=0.1), [3]) == [3]
    assert work.tables == 1


def test_a_clip_that_stays_open_keeps_no_answer_alive(clip: Clip, cache: DecoderCache) -> None:
    import weakref

    frames = decode_video_frames(clip.path, frame_indices=[3, 9], decoder_cache=cache)
    gone = weakref.ref(frames)
    del frames
    assert gone() is None


@pytest.mark.parametrize("codec", ["av1", "h264", "mpeg4"])
def test_no_request_changes_the_answer_to_another(clip_cache: ClipCache, cache: DecoderCache, codec: str) -> None:
    clip = clip_cache.clip(ClipSpec(codec=codec))
    shown = np.stack(sequential.decode(clip.path).pictures)
    random = np.random.default_rng(4)
    for _ in range(40):
        asked = random.integers(0, clip.frames, random.integers(1, 6)).tolist()
        by_index = decode_video_frames(clip.path, frame_indices=asked, decoder_cache=cache)
        np.testing.assert_array_equal(by_index, shown[asked])
