"""Timing inside the worker: how long the loader takes for a sample is measured where the sample is made.

``TimedDataset`` stands around the loader under test and times each ``next()``; ``TimedCollate`` makes the batch and
sends along what was measured. Both live in the worker process and know each other there, because a DataLoader
hands both over at once. Every loader is measured the same way, whatever it says of itself.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch.utils.data import IterableDataset, default_collate, get_worker_info

from streaming_benchmark.errors import BenchmarkError
from streaming_benchmark.statistics import Counts, read_counts


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchTiming:
    """What one batch cost in its worker.

    ``latencies_s`` is the time inside the loader for each sample, ``frames`` the pictures of all cameras and windows,
    ``padded`` those of them that repeat because a window leaves its episode, ``cpu_s`` the CPU that the process has
    taken so far, with all its threads, ``rss_peak`` its most memory so far in bytes, ``counts`` the loader's own.
    """

    worker: int
    pid: int
    latencies_s: tuple[float, ...]
    collate_s: float
    frames: int
    padded: int
    cpu_s: float
    rss_peak: int
    counts: Counts


class TimedDataset(IterableDataset[Any]):
    """The loader under test, with a clock around each of its samples."""

    def __init__(self, dataset: Any) -> None:
        if not hasattr(dataset, "__iter__"):
            raise BenchmarkError(f"{type(dataset).__name__} is no iterable data set; the benchmark needs __iter__")
        self.dataset = dataset
        self.latencies: list[float] = []

    def __iter__(self) -> Iterator[Any]:
        clock = time.perf_counter
        start = clock()
        for sample in self.dataset:
            self.latencies.append(clock() - start)
            yield sample
            start = clock()

    def take_latencies(self) -> tuple[float, ...]:
        """Those since the last call."""
        taken = tuple(self.latencies)
        self.latencies.clear()
        return taken


class TimedCollate:
    """Samples to ``(batch, BatchTiming)``."""

    def __init__(
        self, timed: TimedDataset, cameras: Sequence[str], collate: Callable[[list[Any]], Any] = default_collate
    ) -> None:
        self._timed = timed
        self._cameras = tuple(cameras)
        self._collate = collate

    def __call__(self, samples: list[Any]) -> tuple[Any, BatchTiming]:
        latencies = self._timed.take_latencies()
        start = time.perf_counter()
        batch = self._collate(samples)
        collate_s = time.perf_counter() - start
        info = get_worker_info()
        return batch, BatchTiming(
            worker=info.id if info else 0,
            pid=os.getpid(),
            latencies_s=latencies,
            collate_s=collate_s,
            frames=count_frames(samples, self._cameras),
            padded=count_padded(samples, self._cameras),
            cpu_s=time.process_time(),
            rss_peak=peak_rss(),
            counts=read_counts(self._timed.dataset),
        )


def count_frames(samples: Sequence[Any], cameras: Sequence[str]) -> int:
    """Pictures in ``samples``: every camera, every frame of its window ((T,C,H,W) has T of them, (C,H,W) one).

    Raises:
        BenchmarkError: a sample without one of the cameras.
    """
    frames = 0
    for sample in samples:
        for camera in cameras:
            try:
                shape = sample[camera].shape
            except (KeyError, TypeError, AttributeError, IndexError):
                raise BenchmarkError(f"a sample has no pictures under {camera!r}; the data set names it") from None
            frames += int(shape[0]) if len(shape) == 4 else 1
    return frames


def count_padded(samples: Sequence[Any], cameras: Sequence[str]) -> int:
    """Those of the pictures that the sample itself flags as padding."""
    flags = (sample.get(f"{camera}_is_pad") for sample in samples for camera in cameras)
    return sum(int(flag.sum()) for flag in flags if flag is not None)


def peak_rss() -> int:
    """The most memory this process ever held, in bytes: ``VmHWM``, which a fork or exec sets back; 0 if unknown."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return 1024 * next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))
    except (OSError, StopIteration, ValueError):
        return 0
