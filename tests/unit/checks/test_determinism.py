from __future__ import annotations

import pytest
from planted import DropsLastFrames, Healthy, OffByOne, OneInFive, PreviousBatch, toy_clip

from pytest_videodecode.checks.base import run
from pytest_videodecode.checks.determinism import REPEATS, determinism
from pytest_videodecode.model import Status


def test_one_request_is_repeated_with_another_between() -> None:
    decoder = Healthy(toy_clip(48))
    verdict = run(determinism, decoder.subject())
    assert verdict.status is Status.PASSED
    assert [decoder.requests.count(request) for request in decoder.requests[:2]] == [REPEATS, REPEATS - 1]
    assert all(one != other for one, other in zip(decoder.requests, decoder.requests[1:], strict=False))


@pytest.mark.parametrize("count", [1, 2, 9])
def test_short_clips_have_something_to_repeat(count: int) -> None:
    assert run(determinism, Healthy(toy_clip(count)).subject()).status is Status.PASSED


def test_frames_follow_the_seed() -> None:
    asked = [run(determinism, Healthy(toy_clip(48)).subject(seed=seed)).evidence["frames"] for seed in (1, 1, 2)]
    assert asked[0] == asked[1] != asked[2]


def test_wrong_frames_that_are_always_the_same_are_left_to_frame_identity() -> None:
    assert run(determinism, OffByOne(toy_clip(48)).subject()).status is Status.PASSED


def test_frame_of_the_request_between_is_caught() -> None:
    verdict = run(determinism, PreviousBatch(toy_clip(48)).subject())
    assert verdict.status is Status.FAILED
    assert ", got frame 44 with other pixels" in verdict.reason


def test_difference_is_reported_of_a_damaged_clip() -> None:
    verdict = run(determinism, OneInFive(toy_clip(48, intact=False)).subject())
    assert verdict.status is Status.PASSED
    assert verdict.evidence["not_judged"][0].startswith("at time 5 of 5: asked frame ")


def test_answers_that_lack_frames_fail_at_once() -> None:
    decoder = DropsLastFrames(toy_clip(2))
    verdict = run(determinism, decoder.subject())
    assert (verdict.status, len(decoder.requests)) == (Status.PASSED, 9)
    decoder = DropsLastFrames(toy_clip(1))
    verdict = run(determinism, decoder.subject())
    assert verdict.status is Status.FAILED
    assert verdict.reason.startswith("asked frame 0, got no picture and no error")
    assert len(decoder.requests) == 1


def test_clip_without_frames_must_raise_every_time() -> None:
    assert run(determinism, Healthy(toy_clip(0, intact=False)).subject()).status is Status.PASSED
