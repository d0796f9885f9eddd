"""Which thread cap a decoder should have on this machine: thread counts × processes, in short interleaved rounds."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import psutil

from pytest_videodecode.decoders.spec import parse
from pytest_videodecode.errors import MeasurementError, OptionError
from pytest_videodecode.measure.bench import Bench
from pytest_videodecode.measure.compare import SHAPE, Clock, Seats, Series, same_pixels
from pytest_videodecode.options import Settings

#: All processes together, start of the processes included.
DEFAULT_SECONDS = 60.0

#: Nearer than this two figures count as equal.
NEAR = 0.05

#: Other work on the machine, in percent of it, that blurs what is recommended.
_BUSY = 20.0
_LOOK_S = 0.5

#: A round ends by its samples, never by this.
_UNLIMITED_S = 3600.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """Medians over the rounds of one thread count (0: FFmpeg's automatic one) with so many processes at once.

    ``ratio`` is the median of its throughput to that of the first thread count in the same pass.
    """

    threads: int
    processes: int
    rounds: int
    samples_per_s: float
    cpu_per_sample_s: float
    latency_s: float
    ratio: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Tuning:
    """The sweep, and the cap that it speaks for. ``reasons`` are lines; ``set_by`` says how a count is set."""

    decoder: str
    codec: str
    sample: str
    cells: tuple[Cell, ...]
    threads: int
    set_by: str
    identical: bool
    reasons: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)


def tune(
    decoder: str,
    codec: str,
    threads: Sequence[int],
    processes: Sequence[int],
    settings: Settings,
    *,
    seconds: float = DEFAULT_SECONDS,
) -> Tuning:
    """Sweep ``threads`` × ``processes`` (1 is added: a cap can cost latency) in about ``seconds``.

    Raises:
        OptionError: a spec that sets the thread count itself, or a decoder that has none.
        MeasurementError: a seat is lost, or there is no time for a pass.
        VideodecodeError: as ``Bench`` does.
    """
    spec = parse(decoder)
    if "threads" in spec.options:
        raise OptionError(f"{decoder} sets the thread count that is to be found; leave threads= out")
    variants = [str(replace(spec, options={**spec.options, "threads": str(count)})) for count in threads]
    everyone = sorted({1, *processes})
    cells: list[Cell] = []
    busy = psutil.cpu_percent(interval=_LOOK_S)
    identical, end = True, time.monotonic() + seconds
    for left, seats in zip(range(len(everyone), 0, -1), everyone, strict=True):
        until = time.monotonic() + (end - time.monotonic()) / left
        with Bench(variants, codec, seats, settings, shape=SHAPE) as bench:
            series = [Series(variant) for variant in variants]
            sweep(bench, series, until)
            info, sample = bench.info(0), bench.samples.shape.name
        identical &= same_pixels(series)
        cells += [cell(count, seats, one, series[0]) for count, one in zip(threads, series, strict=True)]
    best, reasons = recommend(cells)
    reasons += crowded(busy)
    return Tuning(
        decoder=decoder,
        codec=codec,
        sample=sample,
        cells=tuple(cells),
        threads=best,
        set_by=info.threads_by,
        identical=identical,
        reasons=tuple(reasons),
        versions=info.versions,
    )


def sweep(bench: Seats, series: Sequence[Series], until: float, clock: Clock = time.monotonic) -> None:
    """One sample a seat, to the last decoder and back, until that time on ``clock``; twice at least, and a warm-up.

    Raises:
        MeasurementError: a seat is lost.
    """
    places = range(len(series))
    for place in places:
        bench.seats(place, _UNLIMITED_S, samples=1)
    pass_s, passes = 0.0, 0
    while passes < 2 or clock() + pass_s < until:
        start = clock()
        for place in places if passes % 2 == 0 else reversed(places):
            series[place].add(bench.seats(place, _UNLIMITED_S, samples=SHAPE.distinct))
        pass_s, passes = clock() - start, passes + 1


def cell(threads: int, processes: int, series: Series, first: Series) -> Cell:
    """The figures of ``series``, whose rounds took turns with those of ``first``."""
    return Cell(
        threads=threads,
        processes=processes,
        rounds=len(series.rates),
        samples_per_s=float(np.median(series.rates)),
        cpu_per_sample_s=float(np.median(series.cpu_per_sample_s)),
        latency_s=float(np.median([latency for seat in series.seats for latency in seat.latencies_s])),
        ratio=float(np.median(np.divide(series.rates, first.rates))),
    )


def recommend(cells: Sequence[Cell]) -> tuple[int, list[str]]:
    """The thread count to set, and why, a line each.

    Of those that are within 5 % of the best throughput at the most processes, the one of least latency for one
    process; of several such the one that takes least CPU, and of several such the smallest pool (0 is the largest).

    Raises:
        MeasurementError: nothing was measured.
    """
    if not cells:
        raise MeasurementError("there is nothing to recommend from; give thread counts to try")
    most = max(each.processes for each in cells)
    crowd = {each.threads: each for each in cells if each.processes == most}
    alone = {each.threads: each for each in cells if each.processes == min(other.processes for other in cells)}
    top = max(each.ratio for each in crowd.values())
    fast = [count for count, each in crowd.items() if each.ratio * (1 + NEAR) >= top]
    quickest = min(alone[count].latency_s for count in fast)
    near = [count for count in fast if alone[count].latency_s <= quickest * (1 + NEAR)]
    least = min(crowd[count].cpu_per_sample_s for count in near)
    thrifty = [count for count in near if crowd[count].cpu_per_sample_s <= least * (1 + NEAR)]
    best = min(thrifty, key=lambda count: count or math.inf)
    slowest = min(crowd.values(), key=lambda each: each.ratio)
    reasons = [
        f"{most} processes: {crowd[best].samples_per_s:.1f} samples/s and "
        f"{crowd[best].cpu_per_sample_s * 1000:.0f} ms of CPU a sample with {named(best)}; "
        f"{slowest.samples_per_s:.1f} and {slowest.cpu_per_sample_s * 1000:.0f} ms with {named(slowest.threads)} "
        f"(ratio {crowd[best].ratio / slowest.ratio:.2f})",
        f"1 process: {alone[best].latency_s * 1000:.1f} ms a sample with {named(best)}",
    ]
    quick = min(alone.values(), key=lambda each: each.latency_s)
    if alone[best].latency_s > quick.latency_s * (1 + NEAR):
        reasons[1] += (
            f", {quick.latency_s * 1000:.1f} ms with {named(quick.threads)}: one stream alone is faster there"
        )
    if len(fast) == len(crowd):
        reasons.append(f"throughput is the same within {NEAR:.0%} for every count tried")
    return best, reasons


def crowded(busy: float) -> list[str]:
    """A warning, where other work took ``busy`` percent of the machine before the sweep."""
    if busy < _BUSY:
        return []
    return [
        f"other work takes {busy:.0f} % of this machine, and more threads win a larger share of what is left; "
        "repeat this on a quiet one"
    ]


def named(threads: int) -> str:
    """``2 threads``"""
    return {0: "the automatic count", 1: "1 thread"}.get(threads, f"{threads} threads")
