from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psutil
import pytest
from noisy_seats import NoisySeats

from pytest_videodecode.errors import DecoderSpecError, MeasurementError
from pytest_videodecode.measure.compare import Series, compare, compare_all, contest, same_pixels
from pytest_videodecode.measure.statistics import FEWEST_PAIRS, PER_CPU_SECOND, THROUGHPUT, Rule, headline
from pytest_videodecode.measurement import Comparison, Direction
from pytest_videodecode.options import Settings


def played(bench: NoisySeats, seconds: float = 40.0) -> tuple[list[Series], list[tuple[Comparison, Comparison]]]:
    series = [Series(f"decoder {place}") for place in range(len(bench.costs))]
    return series, contest(bench, series, bench.clock() + seconds, Rule(), clock=bench.clock)


def verdict(*costs: float, **given: Any) -> Comparison:
    return headline(*played(NoisySeats(*costs, **given))[1][0])


def test_rounds_go_forth_and_back() -> None:
    bench = NoisySeats(1, 1, 1, waits=(0, 0, 0))
    played(bench, 10)
    assert bench.played[:12] == [0, 1, 2, 2, 1, 0] * 2


def test_drift_of_the_machine_is_no_difference() -> None:
    found = verdict(1, 1, drift=0.05)
    assert found.direction is Direction.NO_DIFFERENCE
    assert found.ratio == pytest.approx(1, abs=0.01)


def test_clear_case_stops_at_the_first_look() -> None:
    bench = NoisySeats(1, 1.1, wall_noise=0.02)
    ((throughput, _),) = played(bench)[1]
    assert throughput.direction is Direction.SLOWER
    assert bench.clock() < 1000 + 40 / 3 + 1


def test_unclear_case_takes_all_the_time_and_no_more() -> None:
    bench = NoisySeats(1, 1, wall_noise=0.5, cpu_noise=0.5)
    ((throughput, _),) = played(bench)[1]
    assert throughput.direction is Direction.UNDECIDED
    assert 1039 < bench.clock() <= 1040 + 1


def test_under_load_cpu_time_tells_ten_percent_from_none() -> None:
    """Noise as on two cores with a busy loop on each, rounds as long as there."""
    noise = {"wall_noise": 0.25, "cpu_noise": 0.05, "sample_s": 0.12}
    slow = [verdict(1, 1.1, seed=seed, **noise).direction for seed in range(8)]
    same = [verdict(1, 1.0, seed=seed, **noise).direction for seed in range(8)]
    assert slow.count(Direction.SLOWER) >= 7
    assert same.count(Direction.NO_DIFFERENCE) >= 7
    assert verdict(1, 1.1, seed=0, **{**noise, "wall_noise": 0.5}).metric == PER_CPU_SECOND


def test_waiting_that_takes_no_cpu_time_is_seen_by_throughput() -> None:
    found = verdict(1, 1, waits=(0, 0.2), wall_noise=0.05, cpu_noise=0.05)
    assert (found.direction, found.metric) == (Direction.SLOWER, THROUGHPUT)


def test_long_rounds_are_few_and_decide_when_the_difference_is_large() -> None:
    bench = NoisySeats(3, 1, wall_noise=0.05, sample_s=1.0)
    series, ((throughput, _),) = played(bench)
    assert throughput.direction is Direction.FASTER
    assert len(series[0].rates) == FEWEST_PAIRS
    assert series[0].seats[0].samples == 1


def test_lost_seat_ends_the_comparison() -> None:
    bench = NoisySeats(1, 1)
    bench.lost = "hang after 20 s"
    with pytest.raises(MeasurementError, match=r"^decoder 0: seat 0 was lost: hang after 20 s$"):
        played(bench)


def test_no_time_is_said() -> None:
    with pytest.raises(MeasurementError, match="there was time for 0 rounds of decoder 0 only; give more seconds"):
        played(NoisySeats(1, 1, sample_s=60))


def test_pixels_are_held_together_over_all_decoders() -> None:
    bench = NoisySeats(1, 1)
    assert same_pixels(played(bench, 5)[0])
    bench.digests[1] = "other"
    assert not same_pixels(played(bench, 5)[0])


def test_real_decoders_take_turns_and_leave_nothing_behind(new_children: Callable[[], list[psutil.Process]]) -> None:
    found = compare_all(["slowed:plain", "slowed:slow50"], "av1", 1, Settings(), seconds=6, alone=True)
    throughput, cpu = found.by_metric
    assert (throughput.metric, cpu.metric) == (THROUGHPUT, PER_CPU_SECOND)
    assert cpu.ratio < 0.9
    assert found.verdicts[0].direction in (Direction.SLOWER, Direction.UNDECIDED)
    assert found.identical
    plain, slow = (setting.measured for setting in found.settings)
    assert [plain.decoder, slow.decoder] == ["slowed:plain", "slowed:slow50"]
    assert plain.cpu_per_sample_s < slow.cpu_per_sample_s
    assert plain.split is not None
    assert plain.split.steady_s > 0
    assert new_children() == []


def test_decoder_that_cannot_start_is_said() -> None:
    with pytest.raises(DecoderSpecError, match="no module named 'no_such_module'"):
        compare("production", "no_such_module:f", "av1", 1, Settings())
