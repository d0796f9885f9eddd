"""What one process noted, reduced to numbers that can be written down and added up over the processes of a node."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from streaming_benchmark.consume import Consumed, Taken
from streaming_benchmark.errors import BenchmarkError
from streaming_benchmark.statistics import Counts, total


@dataclass(frozen=True, kw_only=True, slots=True)
class Noted:
    """The measured batches of one process. Times in seconds, memory in bytes.

    ``gaps_s`` lie between the arrivals of batches, ``waited_s`` is what the consumer waited in all. ``cpu_s`` is the
    workers' CPU for ``cpu_samples`` of the samples: those between two batches of one worker.
    """

    latencies_s: tuple[float, ...]
    gaps_s: tuple[float, ...]
    waited_s: float
    wallclock_s: float
    first_batch_s: float
    frames: int
    padded: int
    batches: int
    epochs: int
    workers: int
    collate_s: float
    cpu_s: float
    cpu_samples: int
    counts: Counts
    rss_main: int
    rss_workers: tuple[int, ...]
    in_main: bool

    @property
    def samples(self) -> int:
        """How many were measured."""
        return len(self.latencies_s)


def note(seen: Consumed, *, rss_main: int, in_main: bool) -> Noted:
    """``seen`` in numbers. ``in_main``: there were no workers, one process read and consumed.

    Raises:
        BenchmarkError: when no batch was measured.
    """
    if not seen.measured:
        raise BenchmarkError("no batch was measured; lower --warmup_batches, or raise --num_batches")
    timings = [taken.timing for taken in seen.measured]
    last = {timing.pid: timing for timing in timings}
    cpu_s, cpu_samples = (0.0, 0) if in_main else _cpu(seen)
    return Noted(
        latencies_s=tuple(latency for timing in timings for latency in timing.latencies_s),
        gaps_s=_gaps(seen),
        waited_s=sum(taken.wait_s for taken in seen.measured),
        wallclock_s=seen.measured_to_s - seen.measured_from_s,
        first_batch_s=(seen.warmup or seen.measured)[0].arrived_s,
        frames=sum(timing.frames for timing in timings),
        padded=sum(timing.padded for timing in timings),
        batches=len(timings),
        epochs=seen.epochs,
        workers=len({timing.worker for timing in timings}),
        collate_s=sum(timing.collate_s for timing in timings),
        cpu_s=cpu_s,
        cpu_samples=cpu_samples,
        counts=_counts(seen),
        rss_main=rss_main,
        rss_workers=() if in_main else tuple(timing.rss_peak for timing in last.values()),
        in_main=in_main,
    )


def _counts(seen: Consumed) -> Counts:
    """What the loaders counted during the measured batches: from each worker's last warm-up batch to its last one."""
    before = {taken.timing.pid: taken.timing.counts for taken in seen.warmup}
    after = {taken.timing.pid: taken.timing.counts for taken in seen.measured}
    return total(counts.since(before.get(pid, Counts())) for pid, counts in after.items())


def _cpu(seen: Consumed) -> tuple[float, int]:
    """CPU seconds of the workers, and the samples they were taken for; a worker's start is not among them."""
    before = {taken.timing.pid: taken.timing.cpu_s for taken in seen.warmup}
    cpu_s, samples = 0.0, 0
    for taken in seen.measured:
        timing = taken.timing
        if timing.pid in before:
            cpu_s += timing.cpu_s - before[timing.pid]
            samples += len(timing.latencies_s)
        before[timing.pid] = timing.cpu_s
    return cpu_s, samples


def _gaps(seen: Consumed) -> tuple[float, ...]:
    arrivals: list[Taken] = [*seen.warmup[-1:], *seen.measured]
    return tuple(after.arrived_s - before.arrived_s for before, after in itertools.pairwise(arrivals))
