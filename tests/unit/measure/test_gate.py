from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from measured import MACHINE, compared, measured

from pytest_videodecode.errors import OptionError
from pytest_videodecode.measure.baseline import Baseline, updated
from pytest_videodecode.measure.gate import Gate, against_baseline, against_decoder
from pytest_videodecode.measure.metrics import METRICS, check_limits
from pytest_videodecode.measurement import Direction, Machine

BASELINE = updated(None, [measured()], MACHINE, 0, {})
GATED = sum(metric.limit is not None for metric in METRICS)


def gate(
    machine: Machine = MACHINE,
    baseline: Baseline = BASELINE,
    limits: dict[str, float] | None = None,
    **now: Any,
) -> Gate:
    return against_baseline(baseline, [measured(**now)], machine, 0, limits or {})


def regressed(found: Gate) -> list[str]:
    return [regression.metric for regression in found.regressions]


def test_the_same_figures_pass_without_a_note() -> None:
    assert gate() == Gate(compared=GATED)


@pytest.mark.parametrize(
    ("now", "metric"),
    [
        ({"threads_peak": 16}, "threads_per_process"),
        ({"voluntary_per_sample": 60.0}, "voluntary_switches"),
        ({"decoded_per_sample": 49.0}, "decoded_per_sample"),
        ({"cpu_per_sample_s": 0.0251}, "cpu_per_sample"),
    ],
)
def test_a_rise_beyond_its_limit_is_a_regression_of_that_metric_alone(now: dict[str, Any], metric: str) -> None:
    assert regressed(gate(**now)) == [metric]


@pytest.mark.parametrize(
    "now",
    [
        {"threads_peak": 13},  # one of four processes seen with one thread more
        {"voluntary_per_sample": 49.0},
        {"decoded_per_sample": 46.0},
        {"cpu_per_sample_s": 0.0249},
        {"involuntary_per_sample": 1000.0},  # others' work, unless the user gives it a limit
        {"samples_per_s": 1.0, "p99_s": 9.0},  # the clock is not compared with that of another run
        {"cpu_per_sample_s": 0.001, "decoded_per_sample": 1.0, "threads_peak": 4},
    ],
)
def test_what_is_within_its_limit_or_not_held_to_one_passes(now: dict[str, Any]) -> None:
    assert regressed(gate(**now)) == []


def test_the_line_of_a_regression_has_metric_before_now_and_limit() -> None:
    (regression,) = gate(cpu_per_sample_s=0.05).regressions
    assert str(regression) == "cpu_per_sample of production on av1: was 0.02, now 0.05, limit 0.025 (stable)"


def test_the_users_limit_goes_before_the_baselines_and_that_before_ours() -> None:
    wide = updated(None, [measured()], MACHINE, 0, {"cpu_per_sample": 3.0})
    assert regressed(gate(baseline=wide, cpu_per_sample_s=0.05)) == []
    assert regressed(gate(baseline=wide, limits={"cpu_per_sample": 2.0}, cpu_per_sample_s=0.05)) == ["cpu_per_sample"]
    assert regressed(gate(limits={"involuntary_switches": 1.5}, involuntary_per_sample=20.0)) == [
        "involuntary_switches"
    ]


def test_a_limit_below_one_asks_for_less_than_before() -> None:
    assert regressed(gate(limits={"voluntary_switches": 0.5}, voluntary_per_sample=30.0)) == ["voluntary_switches"]
    assert regressed(gate(limits={"voluntary_switches": 0.5}, voluntary_per_sample=20.0)) == []


def test_a_few_switches_more_than_none_are_none() -> None:
    quiet = updated(None, [measured(voluntary_per_sample=0.2)], MACHINE, 0, {})
    assert regressed(gate(baseline=quiet, voluntary_per_sample=4.0)) == []
    assert regressed(gate(baseline=quiet, voluntary_per_sample=6.0)) == ["voluntary_switches"]


def test_on_another_machine_with_as_many_cores_threads_and_decoded_frames_are_compared() -> None:
    elsewhere = replace(MACHINE, cpu="Another CPU")
    found = gate(elsewhere, cpu_per_sample_s=9.0, voluntary_per_sample=9e3, threads_peak=99, decoded_per_sample=99.0)
    assert regressed(found) == ["threads_per_process", "decoded_per_sample"]
    (note,) = found.notes
    assert "another machine (Some CPU, 2 cores, 8 GiB; here Another CPU, 2 cores, 8 GiB)" in note
    assert note.endswith("voluntary_switches, cpu_per_sample and wall clock are not compared")


def test_with_other_cores_only_decoded_frames_are_compared() -> None:
    assert gate(replace(MACHINE, cores=160), threads_peak=999, cpu_per_sample_s=9.0).compared == 1


def test_with_as_much_memory_but_for_what_the_kernel_keeps_it_is_the_same_machine() -> None:
    assert gate(replace(MACHINE, memory=MACHINE.memory - (100 << 20))).notes == ()


def test_other_versions_are_told_of_and_stable_figures_still_compared() -> None:
    found = gate(replace(MACHINE, python="3.12.1"), versions={"av": "19.0.2"}, cpu_per_sample_s=0.05)
    assert regressed(found) == ["cpu_per_sample"]
    assert "av 18.1.0 (now 19.0.2), python 3.11.7 (now 3.12.1): wall clock is not compared" in found.notes[0]


def test_with_another_number_of_processes_only_threads_are_compared() -> None:
    found = gate(processes=8, threads_peak=24, cpu_per_sample_s=9.0, decoded_per_sample=99.0)
    assert (regressed(found), found.compared) == ([], 1)
    assert "the baseline is of 4 processes (now 8)" in found.notes[0]


def test_threads_of_a_lost_seat_are_not_missed() -> None:
    assert regressed(gate(threads_peak=9, lost=("seat 3: it died",))) == []
    assert regressed(gate(threads_peak=12, lost=("seat 3: it died",))) == ["threads_per_process"]


def test_another_codec_set_is_told_of_both_ways() -> None:
    found = against_baseline(BASELINE, [measured(codec="h264")], MACHINE, 0, {})
    assert found.compared == 0
    assert found.notes == (
        "the baseline has no production on h264; add it with --videodecode-update-baseline",
        "production on av1 is in the baseline and was not measured",
    )


def test_another_sample_is_not_compared() -> None:
    found = gate(sample="one frame", decoded_per_sample=99.0)
    assert (found.compared, len(found.notes)) == (0, 1)
    assert "another sample" in found.notes[0]


def test_samples_drawn_with_another_seed_are_not_compared() -> None:
    found = against_baseline(BASELINE, [measured(decoded_per_sample=99.0)], MACHINE, 1, {})
    assert (found.compared, len(found.notes)) == (0, 1)
    assert "seed 0" in found.notes[0]


def test_metric_that_only_one_of_both_could_see_is_not_compared() -> None:
    assert gate(decoded_per_sample=None).compared == GATED - 1


@pytest.mark.parametrize(
    ("limits", "fields", "fails"),
    [
        ({}, {}, True),
        ({}, {"direction": Direction.NO_DIFFERENCE, "high": 0.99}, False),
        ({}, {"direction": Direction.UNDECIDED}, False),
        ({}, {"direction": Direction.FASTER, "ratio": 1.2, "high": 1.3}, False),
        ({"throughput": 0.9}, {}, False),  # by 7 % for sure, and 10 % may be lost
        ({"throughput": 0.95}, {}, True),
    ],
)
def test_only_a_sure_slowdown_beyond_the_limit_fails(
    limits: dict[str, float], fields: dict[str, Any], fails: bool
) -> None:
    lines = [str(regression) for regression in against_decoder([compared(**fields)], limits, "av1")]
    assert len(lines) == fails
    assert all("throughput of production on av1: was 1, now 0.9, limit" in line for line in lines)
    assert all("(wall, interleaved with production@base)" in line for line in lines)


def test_verdict_taken_from_cpu_time_says_so() -> None:
    (regression,) = against_decoder([compared(metric="samples per CPU second")], {}, "av1")
    assert str(regression) == (
        "samples per CPU second of production on av1: was 1, now 0.9, limit 1 (CPU, interleaved with production@base)"
    )


def test_limit_of_no_metric_is_refused() -> None:
    check_limits({"throughput": 0.9, "involuntary_switches": 3.0})
    with pytest.raises(OptionError, match="'cpu' is no metric of the gate; choose from threads_per_process, "):
        check_limits({"cpu": 1.1})
