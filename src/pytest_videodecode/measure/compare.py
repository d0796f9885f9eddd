"""Decoders side by side in interleaved rounds, A B B A, so that what drifts on the machine meets all of them alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pytest_videodecode.errors import MeasurementError
from pytest_videodecode.measure.bench import Bench
from pytest_videodecode.measure.sample import SampleShape
from pytest_videodecode.measure.statistics import (
    FEWEST_PAIRS,
    PER_CPU_SECOND,
    THROUGHPUT,
    Rule,
    headline,
    judge,
    require_scipy,
)
from pytest_videodecode.measure.total import add_up
from pytest_videodecode.measurement import Comparison, Direction, Measurement, Seat, Split
from pytest_videodecode.options import Settings

#: What one comparison takes, start of the processes included.
DEFAULT_SECONDS = 45.0

#: Few samples: a round that decodes each once is short.
SHAPE = SampleShape(distinct=3)

#: A round decodes every sample once where so many blocks fit into the time, else the first only.
_BLOCKS_WANTED = 12

#: Two blocks; an interval of less is none.
_LEAST_ROUNDS = 4

#: The least share of its seconds that a comparison has for its rounds, and how much longer it may take where so few
#: rounds fit in that they cannot decide.
_ROUNDS_SHARE = 1 / 3
_LONGER = 1 / 3

#: A round ends by its samples, never by this.
_UNLIMITED_S = 3600.0

Clock = Callable[[], float]


class Seats(Protocol):
    """Warm seats of several decoders, as ``Bench`` keeps them."""

    def seats(self, decoder: int, seconds: float, *, samples: int | None = None) -> Sequence[Seat]:
        """One round of the decoder at that place."""


@dataclass(slots=True)
class Series:
    """The rounds of one decoder, in the order they were: samples/s, and CPU seconds per sample."""

    decoder: str
    rates: list[float] = field(default_factory=list)
    cpu_per_sample_s: list[float] = field(default_factory=list)
    seats: list[Seat] = field(default_factory=list)

    def add(self, seats: Sequence[Seat]) -> None:
        """One round.

        Raises:
            MeasurementError: naming a seat that was lost: a round without it is no match for one with it.
        """
        for seat in seats:
            if seat.lost or not seat.samples:
                raise MeasurementError(f"{self.decoder}: seat {seat.seat} was lost: {seat.lost or 'no sample'}")
        self.seats += seats
        self.rates.append(sum(seat.samples / seat.wall_s for seat in seats))
        self.cpu_per_sample_s.append(sum(seat.cpu_s for seat in seats) / sum(seat.samples for seat in seats))


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """What came of one decoder: figures over all rounds, medians where they are rates, and each round's own."""

    measured: Measurement
    rates: tuple[float, ...]
    cpu_per_sample_s: tuple[float, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Compared:
    """All decoders against the first.

    ``verdicts`` has one comparison for each but the first, of the metric that decided; ``by_metric`` has both
    metrics of each. ``identical`` is whether every sample had the same pixels in all seats of all decoders.
    """

    settings: tuple[Setting, ...]
    verdicts: tuple[Comparison, ...]
    by_metric: tuple[Comparison, ...]
    identical: bool


def compare(
    before: str, after: str, codec: str, processes: int, settings: Settings, *, seconds: float = DEFAULT_SECONDS
) -> Comparison:
    """``after`` against ``before`` in about ``seconds``; raises as ``compare_all`` does."""
    return compare_all((before, after), codec, processes, settings, seconds=seconds).verdicts[0]


def compare_all(
    decoders: Sequence[str],
    codec: str,
    processes: int,
    settings: Settings,
    *,
    seconds: float = DEFAULT_SECONDS,
    rule: Rule | None = None,
    alone: bool = False,
) -> Compared:
    """``decoders`` against the first of them, in about ``seconds``, a third more where rounds are long.

    A decoder may be named twice, which shows what the machine calls a difference. ``alone`` measures the latency of
    one stream too.

    Raises:
        Unsupported: no scipy.
        MeasurementError: a seat is lost, or there is no time for two blocks of rounds.
        VideodecodeError: as ``Bench`` does.
    """
    require_scipy()
    end = time.monotonic() + seconds
    with Bench(decoders, codec, processes, settings, shape=SHAPE) as bench:
        splits = [bench.split(place) if alone else None for place in range(len(decoders))]
        series = [Series(decoder) for decoder in decoders]
        end = max(end, time.monotonic() + seconds * _ROUNDS_SHARE)
        by_metric = contest(bench, series, end, rule or Rule(), seed=settings.seed)
        return Compared(
            settings=tuple(
                _setting(one, bench, place, split)
                for place, (one, split) in enumerate(zip(series, splits, strict=True))
            ),
            verdicts=tuple(headline(*both) for both in by_metric),
            by_metric=tuple(one for both in by_metric for one in both),
            identical=same_pixels(series),
        )


def contest(
    bench: Seats, series: Sequence[Series], end: float, rule: Rule, *, seed: int = 0, clock: Clock = time.monotonic
) -> list[tuple[Comparison, Comparison]]:
    """Rounds until ``end`` on ``clock``, or until a look at them decides every throughput; (throughput, CPU) of each.

    Raises:
        MeasurementError: a seat is lost, or there is no time for two blocks of rounds.
    """
    order = [*range(len(series)), *reversed(range(len(series)))]
    start = clock()
    block_s = _block(bench, order, 1, [Series(one.decoder) for one in series], clock)  # the first rounds warm up
    most = SHAPE.distinct if _BLOCKS_WANTED * SHAPE.distinct * block_s <= end - start else 1
    block_s *= most
    share = 0.0
    for look in range(1, rule.looks + 1):
        share += 1 / rule.looks
        until = start + (end - start) * look / rule.looks
        while clock() + block_s < until or (
            look == rule.looks
            and len(series[0].rates) < FEWEST_PAIRS
            and clock() + block_s < end + (end - start) * _LONGER
        ):
            block_s = _block(bench, order, most, series, clock)
        if look < rule.looks and len(series[0].rates) < rule.least_pairs(share):
            continue  # which depends on time only, so the next look may spend this one's share
        by_metric = _look(series, rule, share, seed)
        if all(throughput.direction is not Direction.UNDECIDED for throughput, _ in by_metric):
            break
        share = 0.0
    return by_metric


def _block(bench: Seats, order: Sequence[int], samples: int, series: Sequence[Series], clock: Clock) -> float:
    start = clock()
    for place in order:
        series[place].add(bench.seats(place, _UNLIMITED_S, samples=samples))
    return clock() - start


def _look(series: Sequence[Series], rule: Rule, share: float, seed: int) -> list[tuple[Comparison, Comparison]]:
    first, *others = series
    if len(first.rates) < _LEAST_ROUNDS:
        raise MeasurementError(
            f"there was time for {len(first.rates)} rounds of {first.decoder} only; "
            "give more seconds, or fewer processes"
        )

    def judged(ratios: NDArray[np.float64], after: str, metric: str) -> Comparison:
        return judge(ratios.tolist(), rule, before=first.decoder, after=after, metric=metric, share=share, seed=seed)

    return [
        (
            judged(np.divide(other.rates, first.rates), other.decoder, THROUGHPUT),
            judged(np.divide(first.cpu_per_sample_s, other.cpu_per_sample_s), other.decoder, PER_CPU_SECOND),
        )
        for other in others
    ]


def same_pixels(series: Sequence[Series]) -> bool:
    """Whether each sample had one digest in all seats of all decoders, and every seat was steady."""
    known: dict[str, str] = {}
    seats = [seat for one in series for seat in one.seats]
    same = (known.setdefault(name, digest) == digest for seat in seats for name, digest in seat.digests.items())
    return all(same) and not any(seat.unsteady for seat in seats)


def _setting(series: Series, bench: Bench, place: int, split: Split | None) -> Setting:
    rate = float(np.median(series.rates))
    total = add_up(
        series.seats,
        decoder=series.decoder,
        codec=bench.codec,
        sample=bench.samples.shape.name,
        seconds=sum(seat.wall_s for seat in series.seats) / bench.processes,
        processes=bench.processes,
        split=split,
        versions=bench.info(place).versions,
    )
    rounds = len(series.rates)
    return Setting(
        measured=replace(
            total,
            samples_per_s=rate,
            frames_per_s=rate * sum(seat.frames for seat in series.seats) / total.samples,
            cpu_per_sample_s=float(np.median(series.cpu_per_sample_s)),
            threads_peak=round(total.threads_peak / rounds),
        ),
        rates=tuple(series.rates),
        cpu_per_sample_s=tuple(series.cpu_per_sample_s),
    )
