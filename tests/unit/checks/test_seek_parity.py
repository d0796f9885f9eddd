from __future__ import annotations

import pytest
from planted import Healthy, NextAtGopEnd, Pictures, error, toy_clip

from pytest_videodecode.checks.base import run
from pytest_videodecode.checks.seek_parity import SHORT, seek_parity, spread
from pytest_videodecode.model import DecodeRequest, Outcome, OutcomeKind, Status


class OtherPixelsAlone(Healthy):
    """The right frame, conversion apart, when it is asked alone."""

    def paint(self, request: DecodeRequest, chosen: list[int], pictures: Pictures) -> Pictures:
        if chosen == [9]:
            pictures[0, 1] ^= 1
        return pictures


@pytest.mark.parametrize("count", [1, 2, 5, 48, SHORT + 1, 200])
def test_right_frames_pass_on_clips_of_any_length(count: int) -> None:
    verdict = run(seek_parity, Healthy(toy_clip(count)).subject())
    assert (verdict.status, verdict.reason) == (Status.PASSED, "")


def test_every_frame_of_a_short_clip_is_asked_alone_and_backwards() -> None:
    decoder = Healthy(toy_clip(SHORT))
    verdict = run(seek_parity, decoder.subject())
    alone = [request.indices[0] for request in decoder.requests if request.indices and request.asked == 1]
    assert set(alone) == set(range(SHORT))
    assert verdict.evidence["frames_asked"]["backwards at once"] == SHORT
    assert verdict.evidence["frames_asked"]["after the end"] == 2


def test_few_frames_of_a_long_clip_are_asked_among_them_those_at_keyframes() -> None:
    clip = toy_clip(200)
    frames = spread(clip)
    assert {0, 199} <= set(frames)
    assert any({key - 3, key - 2, key - 1, key, key + 1} <= set(frames) for key in clip.keyframes)
    assert len(frames) <= 20
    decoder = Healthy(clip)
    run(seek_parity, decoder.subject())
    assert len(decoder.requests) < 45


def test_sequential_pass_covers_the_clip_in_bounded_requests() -> None:
    decoder = Healthy(toy_clip(48, width=1920, height=1080))
    verdict = run(seek_parity, decoder.subject())
    assert verdict.evidence["frames_asked"]["sequential pass"] == 48
    assert [request.asked for request in decoder.requests[:2]] == [43, 5]
    assert max(request.asked for request in decoder.requests) == 43


@pytest.mark.parametrize("intact", [True, False])
def test_other_pixels_fail_an_intact_clip_and_are_reported_of_a_damaged_one(intact: bool) -> None:
    verdict = run(seek_parity, OtherPixelsAlone(toy_clip(48, intact=intact)).subject())
    words = "asked frame 9, got frame 9 with other pixels than before in the sequential pass (picture 1 of 1, pattern"
    if intact:
        assert verdict.status is Status.FAILED
        assert verdict.reason.startswith(words)
    else:
        assert verdict.status is Status.PASSED
        assert verdict.evidence["not_judged"][0].startswith(words)


def test_wrong_frames_before_keyframes_are_all_found() -> None:
    verdict = run(seek_parity, NextAtGopEnd(toy_clip(48)).subject())
    alone = [sentence for sentence in verdict.evidence["wrong"] if "'alone'" in sentence]
    assert [sentence.split(" (")[0] for sentence in alone] == [
        f"asked frame {key - 1}, got frame {key}" for key in (8, 16, 24, 32, 40)
    ]


def test_damaged_clip_is_judged_where_frames_come() -> None:
    decoder = Healthy(toy_clip(48, intact=False))

    def decode(request: DecodeRequest) -> Outcome:
        if max(decoder.wanted(request)) > 20:
            return Outcome(kind=OutcomeKind.ERROR, error=error(ValueError))
        return decoder.decode(request)

    verdict = run(seek_parity, decoder.subject(decode=decode))
    assert verdict.status is Status.PASSED
    assert verdict.evidence["errors"]["ValueError"] > 27


def test_clip_without_frames_is_unsupported() -> None:
    verdict = run(seek_parity, Healthy(toy_clip(0, intact=False)).subject())
    assert (verdict.status, verdict.reason) == (Status.UNSUPPORTED, "the clip shows no frame that could be sought")
