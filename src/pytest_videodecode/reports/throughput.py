"""Throughput as text and as ``throughput.json``: a table of what was measured, then what the gate says of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_videodecode.jsonform import to_json
from pytest_videodecode.measurement import Comparison, Machine, Measurement, Regression

SCHEMA = "videodecode-throughput/1"


@dataclass(frozen=True, kw_only=True, slots=True)
class Throughput:
    """All that a run measured, and what the gate found.

    ``comparisons`` are by codec. ``gates`` name what the figures were held against, a line each, with how many
    could be compared; ``notes`` say what could not be, ``unsupported`` what could not be measured here, and why, and
    ``failed`` what should have been measured or compared and was not.
    """

    machine: Machine
    measurements: tuple[Measurement, ...] = ()
    comparisons: Mapping[str, tuple[Comparison, ...]] = field(default_factory=dict)
    regressions: tuple[Regression, ...] = ()
    gates: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()

    @property
    def faults(self) -> list[str]:
        """What must not be, a line each: lost seats, pixels that differ, regressions. Empty when all is well."""
        lost = [f"{one.decoder} on {one.codec}: lost {reason}" for one in self.measurements for reason in one.lost]
        differing = [
            f"pixels of {one.decoder} on {one.codec} are not the same everywhere"
            for one in self.measurements
            if one.samples and not one.identical
        ]
        return [*self.failed, *lost, *differing, *map(str, self.regressions)]


COLUMNS = (
    "decoder",
    "codec",
    "samples/s",
    "frames/s",
    "CPU ms",
    "switches",
    "decoded",
    "threads",
    "RSS MiB",
    "p50 ms",
    "p95 ms",
    "p99 ms",
    "alone ms",
    "pixels",
)


def rows(measurements: Sequence[Measurement]) -> Iterator[list[str]]:
    """A row of texts per measurement, as ``COLUMNS`` has them; CPU, switches and decoded frames are per sample."""
    for one in measurements:
        yield [
            one.decoder,
            one.codec,
            f"{one.samples_per_s:.1f}",
            f"{one.frames_per_s:.0f}",
            f"{one.cpu_per_sample_s * 1000:.1f}",
            f"{one.voluntary_per_sample:.0f}+{one.involuntary_per_sample:.0f}",
            "-" if one.decoded_per_sample is None else f"{one.decoded_per_sample:.1f}",
            str(one.threads_peak),
            f"{one.rss_peak / (1 << 20):.0f}",
            *(f"{time * 1000:.1f}" for time in (one.p50_s, one.p95_s, one.p99_s)),
            "-" if one.split is None else f"{one.split.steady_s * 1000:.1f}",
            "identical" if one.identical else "DIFFER",
        ]


def throughput_lines(report: Throughput) -> Iterator[str]:
    """The whole summary, one line after another."""
    yield from headlines(report.measurements)
    if report.measurements:
        yield from _table([list(COLUMNS), *rows(report.measurements)])
    yield from splits(report.measurements)
    for line in report.unsupported:
        yield f"unsupported: {line}"
    for codec, comparisons in report.comparisons.items():
        for comparison in comparisons:
            yield compared(codec, comparison)
    for note in report.notes:
        yield f"note: {note}"
    for gate in report.gates:
        yield f"gate: {gate}"
    for fault in report.faults:
        yield f"FAILED {fault}"


def headlines(measurements: Sequence[Measurement]) -> Iterator[str]:
    """What was measured how, one line for each way."""
    seen = [(one.sample, one.processes, one.seconds) for one in measurements]
    for sample, processes, seconds in dict.fromkeys(seen):
        what = "process" if processes == 1 else "processes"
        yield f"{processes} {what}, {seconds:g} s, sample: {sample}"


def splits(measurements: Sequence[Measurement]) -> Iterator[str]:
    """Where the time of one stream goes that is alone on the machine."""
    for one in measurements:
        if one.split is not None:
            times = (one.split.open_s, one.split.first_frame_s, one.split.steady_s)
            opened, first, steady = (f"{time * 1000:.1f} ms" for time in times)
            yield f"alone, {one.decoder} on {one.codec}: open {opened}, first frame {first}, sample {steady}"


def compared(codec: str, comparison: Comparison) -> str:
    """One interleaved comparison in a line."""
    sure = f", by {comparison.at_least:.1%} at least" if comparison.at_least else ""
    return (
        f"{comparison.after} against {comparison.before} on {codec}: {comparison.direction}{sure} "
        f"({comparison.metric} x {comparison.ratio:.3f}, {comparison.confidence:.0%} interval "
        f"{comparison.low:.3f} to {comparison.high:.3f}, {comparison.pairs} interleaved pairs)"
    )


def throughput_json(report: Throughput, environment: Mapping[str, Any], seed: int) -> str:
    """The text of ``throughput.json``."""
    data = {"schema": SCHEMA, "seed": seed, "environment": to_json(environment), **to_json(report)}
    return json.dumps(data, indent=1) + "\n"


def _table(cells: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        names = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
        figures = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
        yield "  ".join([*names, *figures]).rstrip()
