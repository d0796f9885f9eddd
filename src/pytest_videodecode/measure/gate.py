"""The gate: what was measured now, held against a baseline and against a decoder at hand.

Across runs only stable figures are compared, and of these only such as mean the same in both: threads where there are
as many cores, decoded frames of as many processes, CPU and context switches of as many processes on the same machine.
The clock counts only as the ratio of interleaved rounds within one run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_videodecode.measure.baseline import Baseline, Entry, find
from pytest_videodecode.measure.metrics import LIMITS, METRICS, THROUGHPUT, Metric
from pytest_videodecode.measurement import Comparison, Direction, Machine, Measurement, Regression

#: Two machines of one kind differ by this share of their memory, by what firmware and kernel keep for themselves.
_MEMORY_TOLERANCE = 0.1


@dataclass(frozen=True, kw_only=True, slots=True)
class Gate:
    """What the gate found. ``compared`` counts the figures that it could compare; ``notes`` say why not more."""

    regressions: tuple[Regression, ...] = ()
    notes: tuple[str, ...] = ()
    compared: int = 0


def against_baseline(
    baseline: Baseline,
    measured: Sequence[Measurement],
    machine: Machine,
    seed: int,
    limits: Mapping[str, float],
) -> Gate:
    """Stable figures against those of the baseline; ``limits`` go before the baseline's own, and these before ours."""
    effective = {**LIMITS, **baseline.limits, **limits}
    regressions, notes, compared = [], [], 0
    for one in measured:
        entry = find(baseline.entries, one)
        if entry is None:
            notes.append(
                f"the baseline has no {one.decoder} on {one.codec}; add it with --videodecode-update-baseline"
            )
            continue
        if (entry.sample, entry.seed) != (one.sample, seed):
            drawn = f"{entry.sample}, seed {entry.seed}"
            notes.append(f"{one.decoder} on {one.codec}: another sample than the baseline's ({drawn}); update it")
            continue
        differs = _differences(entry, one, machine)
        usable = [
            metric for metric in METRICS if metric.name in effective and _comparable(metric, entry, one, machine)
        ]
        unusable = [metric.name for metric in METRICS if metric.name in effective and metric not in usable]
        if differs:
            left_out = f"{', '.join(unusable)} and wall clock are" if unusable else "wall clock is"
            notes.append(
                f"{one.decoder} on {one.codec}: the baseline is of {'; '.join(differs)}: {left_out} not compared"
            )
        for metric in usable:
            before, now = entry.metrics.get(metric.name), metric.read(one)
            if before is None or now is None:
                continue
            compared += 1
            if regression := _regression(metric, one, before, now, effective[metric.name]):
                regressions.append(regression)
    notes += _missing(baseline, measured)
    return Gate(regressions=tuple(regressions), notes=tuple(notes), compared=compared)


def against_decoder(comparisons: Sequence[Comparison], limits: Mapping[str, float], codec: str) -> list[Regression]:
    """Those interleaved comparisons that say slower, by more for sure than the limit of ``throughput`` allows."""
    limit = {**LIMITS, **limits}[THROUGHPUT]
    return [
        Regression(
            metric=comparison.metric,
            decoder=comparison.after,
            codec=codec,
            before=1.0,
            now=comparison.ratio,
            limit=limit,
            kind=f"{'wall' if comparison.metric == THROUGHPUT else 'CPU'}, interleaved with {comparison.before}",
        )
        for comparison in comparisons
        if comparison.direction is Direction.SLOWER and comparison.high < limit
    ]


def same_machine(one: Machine, other: Machine) -> bool:
    """Whether CPU time means the same on both; the versions of system and Python are told of as versions."""
    alike = (one.cpu, one.cores) == (other.cpu, other.cores)
    return alike and abs(one.memory - other.memory) <= _MEMORY_TOLERANCE * max(one.memory, other.memory)


def _comparable(metric: Metric, entry: Entry, measured: Measurement, machine: Machine) -> bool:
    return (
        (not metric.same_machine or same_machine(entry.machine, machine))
        and (not metric.same_cores or entry.machine.cores == machine.cores)
        and (not metric.same_processes or entry.processes == measured.processes)
    )


def _regression(metric: Metric, measured: Measurement, before: float, now: float, limit: float) -> Regression | None:
    most = max(before * limit, before + metric.slack) if limit >= 1 else before * limit
    if now <= most:
        return None
    return Regression(
        metric=metric.name, decoder=measured.decoder, codec=measured.codec, before=before, now=now, limit=most
    )


def _differences(entry: Entry, measured: Measurement, machine: Machine) -> list[str]:
    then, now = entry.machine, machine
    differs = []
    if not same_machine(then, now):
        differs.append(f"another machine ({_machine(then)}; here {_machine(now)})")
    if entry.processes != measured.processes:
        differs.append(f"{entry.processes} processes (now {measured.processes})")
    versions = {"python": then.python, "system": then.system, **entry.versions}
    present = {"python": now.python, "system": now.system, **measured.versions}
    other = [
        f"{name} {versions.get(name, 'none')} (now {present.get(name, 'none')})"
        for name in sorted({*versions, *present})
        if versions.get(name) != present.get(name)
    ]
    if other:
        differs.append(f"other versions: {', '.join(other)}")
    return differs


def _machine(machine: Machine) -> str:
    return f"{machine.cpu}, {machine.cores} cores, {machine.memory / (1 << 30):.0f} GiB"


def _missing(baseline: Baseline, measured: Sequence[Measurement]) -> list[str]:
    """What the baseline has of the decoders that were measured, on codecs that were not."""
    decoders, done = {one.decoder for one in measured}, {(one.decoder, one.codec) for one in measured}
    return [
        f"{entry.decoder} on {entry.codec} is in the baseline and was not measured"
        for entry in baseline.entries
        if entry.decoder in decoders and (entry.decoder, entry.codec) not in done
    ]
