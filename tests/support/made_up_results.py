"""Results of the streaming benchmark with figures that are easy to check by hand."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from typing import Any

from streaming_benchmark.arguments import RunSettings, parse_run
from streaming_benchmark.consume import Consumed, Taken
from streaming_benchmark.metrics import CacheMetrics, Metrics, figures
from streaming_benchmark.nodes import Place
from streaming_benchmark.noted import note
from streaming_benchmark.result import Result
from streaming_benchmark.statistics import Counts
from streaming_benchmark.timing import BatchTiming


def asked(*words: str) -> RunSettings:
    """Settings of a command line on the folder ``data``."""
    return parse_run(["--root", "data", *words], argparse.ArgumentParser(exit_on_error=False))


def timing(latencies: Sequence[float], pid: int = 1, counts: Counts | None = None, **changes: Any) -> BatchTiming:
    """One batch of two cameras with windows of 8; CPU advances by a second a batch where not said otherwise."""
    values: dict[str, Any] = {
        "worker": pid,
        "pid": pid,
        "latencies_s": tuple(latencies),
        "collate_s": 0.0,
        "frames": 16 * len(latencies),
        "padded": 0,
        "cpu_s": 0.0,
        "rss_peak": 100 << 20,
        "counts": counts or Counts(),
    }
    return BatchTiming(**{**values, **changes})


def consumed(measured: Sequence[BatchTiming], warmup: Sequence[BatchTiming] = (), every_s: float = 1.0) -> Consumed:
    """Batches that arrive ``every_s``, of which the consumer waits half; each is done with when the next is asked."""
    taken = [Taken(every_s / 2, every_s * (n + 1), each) for n, each in enumerate([*warmup, *measured])]
    return Consumed(
        warmup=taken[: len(warmup)],
        measured=taken[len(warmup) :],
        measured_from_s=every_s * len(warmup),
        measured_to_s=every_s * len(taken),
        epochs=1,
    )


def metrics(**changes: Any) -> Metrics:
    """Of two batches of four samples in 2 s, with a warm cache."""
    seen = consumed([timing([0.01] * 4), timing([0.02] * 4)])
    whole = figures([note(seen, rss_main=200 << 20, in_main=False)])
    warm = CacheMetrics(hits=99, misses=1, evictions=0, hit_rate=0.99, size=4)
    return dataclasses.replace(whole, **{"video_decoder_cache": warm, **changes})


def result(*words: str, place: Place | None = None, **changes: Any) -> Result:
    """A result of ``words`` on a command line, with ``metrics(**changes)``."""
    return Result(settings=asked(*words), place=place or Place(), metrics=metrics(**changes))
