from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_videodecode.errors import MeasurementError
from pytest_videodecode.measure.total import add_up
from pytest_videodecode.measurement import Measurement, Seat

SEAT = Seat(
    seat=0,
    samples=4,
    frames=72,
    wall_s=2.0,
    cpu_s=1.0,
    measuring_s=0.01,
    voluntary_switches=20,
    involuntary_switches=8,
    threads_peak=5,
    rss_peak=100,
    decoded_frames=264,
    latencies_s=(0.4, 0.5, 0.5, 0.6),
    digests={"shared": "a", "own": "b"},
)
OTHER = replace(
    SEAT,
    seat=1,
    samples=1,
    frames=18,
    wall_s=1.0,
    rss_peak=200,
    decoded_frames=76,
    latencies_s=(1.0,),
    digests={"shared": "a"},
)


def total(*seats: Seat, **more: Any) -> Measurement:
    return add_up(seats, decoder="production", codec="av1", sample="small", seconds=2.0, **more)


def test_rates_are_the_sum_of_each_seats_own() -> None:
    measured = total(SEAT, OTHER)
    assert (measured.samples, measured.processes) == (5, 2)
    assert measured.samples_per_s == pytest.approx(4 / 2 + 1 / 1)
    assert measured.frames_per_s == pytest.approx(72 / 2 + 18 / 1)


def test_costs_are_per_sample() -> None:
    measured = total(SEAT, OTHER)
    assert measured.cpu_per_sample_s == pytest.approx(2 / 5)
    assert measured.voluntary_per_sample == pytest.approx(40 / 5)
    assert measured.involuntary_per_sample == pytest.approx(16 / 5)
    assert measured.overhead == pytest.approx(0.02 / 2)


def test_decoded_frames_do_not_depend_on_how_far_a_seat_got() -> None:
    measured = total(SEAT, OTHER)
    assert measured.decoded_per_sample == pytest.approx((66 + 76) / 2)
    farther = replace(SEAT, samples=400, decoded_frames=26400)
    assert total(farther, OTHER).decoded_per_sample == measured.decoded_per_sample


def test_threads_add_up_and_memory_is_that_of_the_largest() -> None:
    measured = total(SEAT, OTHER)
    assert (measured.threads_peak, measured.rss_peak) == (10, 200)


def test_percentiles_are_over_the_samples_of_all_seats() -> None:
    measured = total(SEAT, OTHER)
    assert measured.latencies_s == (0.4, 0.5, 0.5, 0.6, 1.0)
    assert measured.p50_s == 0.5
    assert 0.6 < measured.p95_s < measured.p99_s < 1.0


def test_same_pixels_everywhere_are_identical() -> None:
    assert total(SEAT, OTHER).identical
    assert not total(SEAT, replace(OTHER, digests={"shared": "c"})).identical
    assert total(SEAT, replace(OTHER, digests={"other": "c"})).identical
    assert not total(SEAT, replace(OTHER, unsteady=True)).identical


def test_one_seat_that_cannot_see_its_frames_leaves_them_unknown() -> None:
    assert total(SEAT, replace(OTHER, decoded_frames=None)).decoded_per_sample is None


def test_lost_seats_are_named_and_count_as_nothing_else() -> None:
    measured = total(SEAT, Seat(seat=1, lost="crash (SIGSEGV)"), Seat(seat=2), processes=4)
    assert measured.lost == ("seat 1: crash (SIGSEGV)", "seat 2: no sample")
    assert measured.processes == 4
    assert replace(measured, lost=(), processes=1) == total(SEAT)


def test_nothing_brought_is_one_line_that_says_why() -> None:
    with pytest.raises(MeasurementError, match=r"production on av1: no seat decoded a sample; seat 1: hang"):
        total(Seat(seat=1, lost="hang in decode"), Seat(seat=2, lost="crash"))
    with pytest.raises(MeasurementError, match="there was none"):
        total()
