from __future__ import annotations

from dataclasses import replace

import pytest
from planted import Crashes, Healthy, toy_clip

from pytest_videodecode.checks.hang_limit import LEAST_S, SLOWER, hang_limit
from pytest_videodecode.model import Census, DecodeRequest, Outcome, OutcomeKind


def slow(decoder: Healthy, wall_s: float) -> Healthy:
    def decode(request: DecodeRequest) -> Outcome:
        return replace(Healthy.decode(decoder, request), census=Census(wall_s=wall_s))

    decoder.decode = decode  # type: ignore[method-assign]
    return decoder


@pytest.mark.parametrize(("wall_s", "limit_s"), [(0.01, LEAST_S), (0.4, SLOWER * 0.4), (7.0, 20.0)])
def test_limit_follows_the_clean_decode_within_bounds(wall_s: float, limit_s: float) -> None:
    decoder = slow(Healthy(toy_clip(12)), wall_s)
    assert hang_limit(decoder.subject(), 20.0) == limit_s
    assert [request.indices for request in decoder.requests] == [tuple(range(12))]


def test_limit_of_the_run_is_never_passed() -> None:
    assert hang_limit(slow(Healthy(toy_clip(12)), 0.0).subject(), 1.5) == 1.5


def test_decoder_that_fails_on_the_clean_clip_keeps_the_limit_of_the_run() -> None:
    failing = Healthy(toy_clip(12)).subject(decode=lambda request: Outcome(kind=OutcomeKind.SILENT_LOSS))
    assert hang_limit(failing, 20.0) == 20.0


def test_clip_without_frames_is_not_asked() -> None:
    decoder = Crashes(toy_clip(0))
    assert hang_limit(decoder.subject(), 20.0) == 20.0
    assert not decoder.requests
