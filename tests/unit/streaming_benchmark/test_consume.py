"""The consumer takes batches as a training loop does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from made_up_results import timing
from streaming_benchmark.consume import consume
from streaming_benchmark.errors import BenchmarkError


def epochs(batches: int) -> Any:
    def epoch(number: int) -> Iterator[tuple[str, Any]]:
        return iter([(f"{number}.{batch}", timing([0.01])) for batch in range(batches)])

    return epoch


def test_warmup_then_batches_over_as_many_epochs_as_it_takes() -> None:
    moved: list[str] = []

    seen = consume(epochs(3), warmup_batches=2, num_batches=6, move=moved.append)

    assert (len(seen.warmup), len(seen.measured), seen.epochs) == (2, 6, 3)
    assert moved == ["0.0", "0.1", "0.2", "1.0", "1.1", "1.2", "2.0", "2.1"]


def test_measured_time_begins_when_warmup_is_on_the_device() -> None:
    ticks = iter(range(1000))
    finished: list[int] = []

    def clock() -> float:
        return float(next(ticks))

    seen = consume(
        epochs(9), warmup_batches=1, num_batches=2, finish=lambda: finished.append(next(ticks)), clock=clock
    )

    assert len(finished) == 2
    assert seen.measured_from_s > finished[0]
    assert seen.measured_to_s > finished[1]
    assert seen.measured[0].arrived_s > seen.measured_from_s


def test_loader_without_a_batch_ends_it() -> None:
    with pytest.raises(BenchmarkError, match="the loader gave no batch"):
        consume(epochs(0), warmup_batches=0, num_batches=1)
