from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from planted import Healthy, toy_clip

from pytest_videodecode.checks.asking import INDEX, MAX_PIXELS, TIMESTAMP, Ask, fits, ways


def test_ask_by_index_names_the_frames() -> None:
    request = Ask("tail", (4, 5)).request(toy_clip(6), threads=2)
    assert (request.indices, request.timestamps, request.threads) == ((4, 5), None, 2)


def test_ask_by_timestamp_gives_true_times() -> None:
    request = Ask("tail", (4, 5), TIMESTAMP).request(toy_clip(6))
    assert (request.indices, request.timestamps) == (None, (4 / 30, 5 / 30))


def test_clip_without_frames_is_asked_for_its_start() -> None:
    assert Ask("no frame", (0,), TIMESTAMP).request(toy_clip(0)).timestamps == (0.0,)


@pytest.mark.parametrize(
    ("asks", "expected"),
    [
        (("indices", "timestamps"), (INDEX, TIMESTAMP)),
        (("timestamps", "indices"), (INDEX, TIMESTAMP)),
        (("timestamps",), (TIMESTAMP,)),
        (("indices",), (INDEX,)),
    ],
)
def test_decoder_is_asked_in_every_way_it_takes(asks: tuple[str, ...], expected: tuple[str, ...]) -> None:
    subject = Healthy(toy_clip(4)).subject()
    assert ways(replace(subject, decoder=replace(subject.decoder, asks=asks))) == expected


@pytest.mark.parametrize(
    "clip",
    [
        toy_clip(3, times=(Fraction(0), Fraction(2), Fraction(1))),
        toy_clip(2, times=(Fraction(0), Fraction(0))),
        toy_clip(3, container="avi"),
        toy_clip(3, container="h264"),
    ],
    ids=["backwards", "equal", "avi", "raw"],
)
def test_no_timestamp_is_asked_where_times_are_not_the_clips_own(clip: object) -> None:
    subject = Healthy(toy_clip(3)).subject(clip=clip)
    assert ways(subject) == (INDEX,)
    assert ways(replace(subject, decoder=replace(subject.decoder, asks=("timestamps",)))) == ()


def test_request_is_bounded_and_never_empty() -> None:
    large = toy_clip(4, width=1920, height=1080)
    assert fits(large) * 1920 * 1080 * 3 <= MAX_PIXELS < (fits(large) + 1) * 1920 * 1080 * 3
    assert fits(toy_clip(4, width=30_000, height=30_000)) == 1
    assert fits(toy_clip(0, width=0, height=0)) > 0
