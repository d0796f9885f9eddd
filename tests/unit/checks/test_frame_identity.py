from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from planted import Crashes, Healthy, OffByOneAfterSeek, error, toy_clip

from pytest_videodecode.checks.base import run
from pytest_videodecode.checks.frame_identity import frame_identity
from pytest_videodecode.model import DecodeRequest, Outcome, OutcomeKind, Status


@pytest.mark.parametrize("count", [1, 2, 7, 48, 100])
def test_right_frames_pass_on_clips_of_any_length(count: int) -> None:
    verdict = run(frame_identity, Healthy(toy_clip(count)).subject())
    assert (verdict.status, verdict.reason) == (Status.PASSED, "")


def test_every_pattern_is_asked_in_both_ways() -> None:
    decoder = Healthy(toy_clip(48))
    verdict = run(frame_identity, decoder.subject())
    asked = verdict.evidence["asked"]
    assert asked["index"] == asked["timestamp"]
    assert len(asked["index"]) == 9
    assert sum(request.timestamps is not None for request in decoder.requests) == 9
    assert verdict.evidence["frames_right"] == sum(request.asked for request in decoder.requests)


def test_decoder_of_timestamps_is_asked_by_timestamp_only() -> None:
    decoder = Healthy(toy_clip(48))
    verdict = run(frame_identity, decoder.subject(decoder=replace(decoder.info, asks=("timestamps",))))
    assert verdict.status is Status.PASSED
    assert all(request.indices is None for request in decoder.requests)


def test_clip_without_own_times_is_unsupported_for_a_decoder_of_timestamps() -> None:
    decoder = Healthy(toy_clip(2, times=(Fraction(0), Fraction(0))))
    verdict = run(frame_identity, decoder.subject(decoder=replace(decoder.info, asks=("timestamps",))))
    assert verdict.status is Status.UNSUPPORTED
    assert "the decoder takes timestamps only" in verdict.reason


def test_ways_not_asked_are_in_the_evidence() -> None:
    verdict = run(frame_identity, Healthy(toy_clip(9, container="avi")).subject())
    assert verdict.status is Status.PASSED
    assert verdict.evidence["not_asked"].startswith("by timestamp: the clip has no presentation times")


def test_all_wrong_patterns_are_counted() -> None:
    verdict = run(frame_identity, OffByOneAfterSeek(toy_clip(48)).subject())
    assert verdict.status is Status.FAILED
    assert verdict.reason.startswith("asked frame 36, got frame 37 (picture 1 of 9, pattern 'late window', by index)")
    after_a_seek = ("late window", "tail", "single", "strided", "dense", "repeated")
    assert verdict.evidence["wrong_in_all"] == 2 * len(after_a_seek)
    assert verdict.evidence["request"]["indices"] == list(range(36, 45))


def test_asking_ends_with_a_crash() -> None:
    decoder = Crashes(toy_clip(48))
    assert run(frame_identity, decoder.subject()).status is Status.FAILED
    assert len(decoder.requests) == 3


def test_error_on_a_damaged_clip_is_reported_and_passes() -> None:
    decoder = Healthy(toy_clip(48, intact=False))

    def decode(request: DecodeRequest) -> Outcome:
        if request.indices and max(request.indices) > 40:
            return Outcome(kind=OutcomeKind.ERROR, error=error(ValueError))
        return decoder.decode(request)

    verdict = run(frame_identity, decoder.subject(decode=decode))
    assert verdict.status is Status.PASSED
    assert verdict.evidence["errors"]["tail by index"] == "ValueError"


def test_clip_without_frames_must_raise() -> None:
    empty = toy_clip(0, intact=False)
    assert run(frame_identity, Healthy(empty).subject()).status is Status.PASSED
    nothing = Outcome(kind=OutcomeKind.SILENT_LOSS)
    verdict = run(frame_identity, Healthy(empty).subject(decode=lambda request: nothing))
    assert verdict.status is Status.FAILED
    assert "0 frames and no error where an error is due" in verdict.reason


def test_whole_clip_that_does_not_fit_is_cut_and_says_so() -> None:
    decoder = Healthy(toy_clip(48, width=1920, height=1080))
    verdict = run(frame_identity, decoder.subject())
    assert verdict.status is Status.PASSED
    assert verdict.evidence["cut"].startswith("whole clip: the first 43 of 48 frames")
    assert max(request.asked for request in decoder.requests) == 43
