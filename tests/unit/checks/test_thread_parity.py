from __future__ import annotations

from dataclasses import replace

import pytest
from planted import Healthy, OffByOne, OtherErrorAtFourThreads, Pictures, toy_clip

from pytest_videodecode.checks.base import run
from pytest_videodecode.checks.thread_parity import REPEATS, thread_parity
from pytest_videodecode.model import DecodeRequest, Status


class NoisyFrameThreads(Healthy):
    """Frame threads return other pixels now and then."""

    def paint(self, request: DecodeRequest, chosen: list[int], pictures: Pictures) -> Pictures:
        if request.thread_type == "FRAME" and request.threads == 2 and self.requests.count(request) == 2:
            pictures[0, 1] ^= 1
        return pictures


def test_every_count_and_one_above_the_frames_is_tried_and_repeated() -> None:
    decoder = Healthy(toy_clip(20))
    verdict = run(thread_parity, decoder.subject(threads=(0, 1, 3)))
    assert verdict.status is Status.PASSED
    tried = [request.threads for request in decoder.requests]
    assert set(tried) == {0, 1, 3, 21}
    assert all(tried.count(count) == REPEATS * len(verdict.evidence["patterns"]) for count in set(tried))


def test_first_setting_is_one_thread_and_long_clips_do_not_ask_hundreds() -> None:
    verdict = run(thread_parity, Healthy(toy_clip(200)).subject())
    assert verdict.evidence["settings"] == [f"threads={count}" for count in (1, 0, 2, 4, 64)]


def test_thread_types_are_crossed_with_counts() -> None:
    decoder = Healthy(toy_clip(20))
    info = replace(decoder.info, thread_types=("SLICE", "FRAME"))
    verdict = run(thread_parity, decoder.subject(decoder=info, threads=(1, 2)))
    assert verdict.evidence["settings"] == [
        "threads=1 SLICE", "threads=1 FRAME", "threads=2 SLICE", "threads=2 FRAME",
        "threads=21 SLICE", "threads=21 FRAME",
    ]  # fmt: skip


@pytest.mark.parametrize("intact", [True, False])
def test_noise_between_runs_fails_an_intact_clip_and_is_reported_of_a_damaged_one(intact: bool) -> None:
    decoder = NoisyFrameThreads(toy_clip(20, intact=intact))
    verdict = run(thread_parity, decoder.subject(decoder=replace(decoder.info, thread_types=("SLICE", "FRAME"))))
    words = "with threads=2 FRAME against threads=1 SLICE: asked frame 0, got frame 0 with other pixels"
    assert verdict.evidence["largest_difference"] == 1
    if intact:
        assert verdict.status is Status.FAILED
        assert verdict.reason.startswith(words)
    else:
        assert verdict.status is Status.PASSED
        assert verdict.evidence["not_judged"][0].startswith(words)


def test_damaged_clip_must_end_in_one_class_for_every_count() -> None:
    verdict = run(thread_parity, OtherErrorAtFourThreads(toy_clip(20, intact=False)).subject())
    assert verdict.status is Status.FAILED
    assert (
        "with threads=4 against threads=1: asked 20 frames from 0 to 19, got 2 frames and no error" in verdict.reason
    )
    assert "where 2 frames, then ValueError: invalid data came" in verdict.reason


def test_wrong_frames_that_are_equal_are_left_to_frame_identity() -> None:
    assert run(thread_parity, OffByOne(toy_clip(20)).subject()).status is Status.PASSED


def test_missing_reference_fails() -> None:
    decoder = OtherErrorAtFourThreads(toy_clip(20))
    verdict = run(thread_parity, decoder.subject())
    assert verdict.status is Status.FAILED
    assert verdict.reason.startswith("with threads=1: asked frame 2, got ValueError: invalid data (picture 3 of 20")
    assert len(decoder.requests) == 1


def test_clip_without_frames_is_compared_by_its_error() -> None:
    assert run(thread_parity, Healthy(toy_clip(0, intact=False)).subject()).status is Status.PASSED


def test_decoder_without_thread_setting_is_unsupported() -> None:
    decoder = Healthy(toy_clip(20))
    verdict = run(thread_parity, decoder.subject(decoder=replace(decoder.info, threads_by="")))
    assert verdict.status is Status.UNSUPPORTED
    assert verdict.reason.startswith("no thread count reaches this decoder; give the function a parameter")
    assert not decoder.requests
