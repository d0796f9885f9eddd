from __future__ import annotations

from fractions import Fraction

import pytest

from pytest_videodecode.clips.timing import frame_time, tick
from pytest_videodecode.model import ClipSpec

NTSC = Fraction(30000, 1001)


def test_constant_rate_counts_exact_frame_durations_from_the_start() -> None:
    spec = ClipSpec(rate=NTSC, start=Fraction(10))
    assert [frame_time(spec, i) for i in (0, 1, 47)] == [10, 10 + 1 / NTSC, 10 + 47 / NTSC]


def test_variable_rate_keeps_order_and_average_but_misleads_rounding() -> None:
    spec = ClipSpec(variable_rate=True, frames=70)
    times = [frame_time(spec, i) for i in range(71)]
    assert times == sorted(set(times))
    assert times[70] == 70 / spec.rate
    assert sum(round(time * spec.rate) != i for i, time in enumerate(times[:70])) >= 20


@pytest.mark.parametrize("start", [Fraction(0), Fraction(10), Fraction(7, 3)])
@pytest.mark.parametrize("variable", [False, True])
@pytest.mark.parametrize("rate", [Fraction(30), NTSC, Fraction(15, 2)])
def test_every_time_is_a_whole_number_of_ticks(start: Fraction, variable: bool, rate: Fraction) -> None:
    spec = ClipSpec(rate=rate, start=start, variable_rate=variable)
    assert all((frame_time(spec, i) / tick(spec)).denominator == 1 for i in range(-3, 48))
