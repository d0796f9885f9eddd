from __future__ import annotations

import pytest
from planted import toy_clip

from pytest_videodecode.checks.patterns import late_start, late_window, patterns, unsorted


@pytest.mark.parametrize("count", [1, 2, 3, 8, 9, 33, 48, 200])
@pytest.mark.parametrize("gop", [1, 2, 8, 500])
def test_patterns_stay_inside_the_clip_and_differ(count: int, gop: int) -> None:
    asks = patterns(toy_clip(count, gop), seed=3)
    assert all(ask.frames and set(ask.frames) <= set(range(count)) for ask in asks)
    assert len({ask.frames for ask in asks}) == len(asks)
    assert set(range(count)) in [set(ask.frames) for ask in asks]


def test_clip_of_ordinary_length_has_every_pattern() -> None:
    asks = {ask.name: ask.frames for ask in patterns(toy_clip(48), seed=0)}
    assert list(asks) == [
        "start window", "late window", "tail", "single", "strided", "dense", "whole clip", "unsorted", "repeated",
    ]  # fmt: skip
    assert asks["strided"] == tuple(range(15, 48, 4))
    assert asks["tail"] == tuple(range(39, 48))
    assert list(asks["unsorted"]) != sorted(asks["unsorted"])
    assert len(set(asks["repeated"])) == 2 < len(asks["repeated"])


def test_clip_without_frames_has_no_pattern() -> None:
    assert patterns(toy_clip(0), seed=0) == ()


def test_one_frame_is_asked_alone_and_repeated() -> None:
    assert [ask.frames for ask in patterns(toy_clip(1), seed=0)] == [(0,), (0,) * 6]


@pytest.mark.parametrize("gop", [2, 3, 8, 12])
def test_late_window_begins_between_two_keyframes_of_the_later_half(gop: int) -> None:
    clip = toy_clip(48, gop)
    start = late_start(clip)
    assert start >= 24
    assert start not in clip.keyframes
    assert any(0 < key < start for key in clip.keyframes)
    assert late_window(clip).frames[0] == start


def test_long_gop_has_its_late_window_in_the_last_quarter() -> None:
    assert late_start(toy_clip(48, gop=250)) == 36


def test_large_pictures_are_asked_in_bounded_requests() -> None:
    clip = toy_clip(48, width=7680, height=4320)
    assert max(len(ask.frames) for ask in patterns(clip, seed=0)) == 2


def test_equal_seeds_ask_equal_frames() -> None:
    clip = toy_clip(200)
    assert unsorted(clip, 5) == unsorted(clip, 5) != unsorted(clip, 6)
    assert patterns(clip, 5) == patterns(clip, 5)


@pytest.mark.parametrize("seed", range(20))
def test_unsorted_is_never_in_order(seed: int) -> None:
    frames = unsorted(toy_clip(2), seed)
    assert frames == (1, 0)
