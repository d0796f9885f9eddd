"""The dummy consumer: pulls batches as a training loop does, moves them to the device, and notes the times."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from streaming_benchmark.errors import BenchmarkError
from streaming_benchmark.timing import BatchTiming

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Taken:
    """One batch as the consumer saw it, in seconds: how long it waited for it, and when it had it."""

    wait_s: float
    arrived_s: float
    timing: BatchTiming


@dataclass(slots=True)
class Consumed:
    """Everything the consumer noted; times are seconds since it began.

    ``measured_from_s`` is when the last warm-up batch was done with (0 without one), ``measured_to_s`` when the last
    measured batch was.
    """

    warmup: list[Taken] = field(default_factory=list)
    measured: list[Taken] = field(default_factory=list)
    measured_from_s: float = 0.0
    measured_to_s: float = 0.0
    epochs: int = 0


def consume(
    epoch: Callable[[int], Iterator[tuple[Any, BatchTiming]]],
    *,
    warmup_batches: int,
    num_batches: int,
    step_s: float = 0.0,
    move: Callable[[Any], object] = lambda batch: batch,
    finish: Callable[[], object] = lambda: None,
    tick: Callable[[], object] = lambda: None,
    clock: Clock = time.perf_counter,
) -> Consumed:
    """Take ``warmup_batches``, then ``num_batches``, over as many epochs as that needs.

    ``epoch(n)`` starts the n-th pass over the data. ``move`` puts a batch on the device, ``finish`` waits for all
    that was put there; it is called before the measured time begins and before it ends.

    Raises:
        BenchmarkError: a pass that gives no batch, or nothing left to measure.
    """
    seen = Consumed()
    start = clock()
    while len(seen.measured) < num_batches:
        batches = epoch(seen.epochs)
        seen.epochs += 1
        before = len(seen.warmup) + len(seen.measured)
        while len(seen.measured) < num_batches:
            asked = clock()
            item = next(batches, None)
            if item is None:
                break
            now = clock()
            batch, timing = item
            taken = Taken(now - asked, now - start, timing)
            move(batch)
            if step_s:
                time.sleep(step_s)  # a training step computes on the device and leaves the CPU free
            if len(seen.warmup) < warmup_batches:
                seen.warmup.append(taken)
                if len(seen.warmup) == warmup_batches:
                    finish()
                    seen.measured_from_s = clock() - start
            else:
                seen.measured.append(taken)
            tick()
        if len(seen.warmup) + len(seen.measured) == before:
            raise BenchmarkError("the loader gave no batch; see that the data set has episodes, and --batch_size")
    finish()
    seen.measured_to_s = clock() - start
    return seen
