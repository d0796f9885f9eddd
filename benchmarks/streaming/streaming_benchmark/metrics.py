"""From what was noted to the figures of the result file: each is what its name says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from streaming_benchmark.noted import Noted
from streaming_benchmark.statistics import Counts, total

_MIB = 1 << 20
_NOT_COUNTED = "the loader's statistics do not have it"


@dataclass(frozen=True, kw_only=True, slots=True)
class CacheMetrics:
    """The decoder caches of all workers: opened clips found (``hits``), not found, let go; ``size`` is open now."""

    hits: int | None = None
    misses: int | None = None
    evictions: int | None = None
    hit_rate: float | None = None
    size: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Metrics:
    """The figures of one node, over all its processes. ``missing`` says why a figure is None.

    * ``frames_per_s_node``: pictures delivered a second, all cameras and all frames of their windows;
      ``padded_share`` of these repeat because a window leaves its episode.
    * ``sample_latency_ms``: time inside the loader for one sample, measured in the worker. ``batch_gap_ms``: from one
      batch's arrival at the consumer to the next one's.
    * ``first_batch_latency_s``: from the start of the loader, workers included. ``wallclock_s``: of the measured
      batches.
    * ``stall_share``: of the measured time, what the consumer waited for batches.
    * ``decode_share`` and ``fetch_share``: of the time inside the loader; ``collate_share`` stands beside them, of
      the whole time of the workers.
    * memory is the most that a process held, in MiB; what processes share counts in each.
    """

    frames_per_s_node: float
    samples_per_s: float
    first_batch_latency_s: float
    p50_sample_latency_ms: float
    p95_sample_latency_ms: float
    p99_sample_latency_ms: float
    p50_batch_gap_ms: float
    p95_batch_gap_ms: float
    p99_batch_gap_ms: float
    wallclock_s: float
    stall_share: float
    samples: int
    frames: int
    padded_share: float
    batches: int
    epochs: int
    workers_seen: int
    worker_s_per_sample: float
    worker_cpu_s_per_sample: float | None
    collate_share: float
    decode_share: float | None
    fetch_share: float | None
    samples_skipped: int | None
    peak_rss_main_mib: float
    peak_rss_worker_mib: float | None
    peak_rss_sum_mib: float
    video_decoder_cache: CacheMetrics = CacheMetrics()
    missing: Mapping[str, str] = field(default_factory=dict)


def figures(processes: Sequence[Noted]) -> Metrics:
    """The figures of a node from what each of its processes noted: rates add up, percentiles are over all samples."""
    counts = total(noted.counts for noted in processes)
    samples, frames = sum(noted.samples for noted in processes), sum(noted.frames for noted in processes)
    inside, collating = sum(sum(noted.latencies_s) for noted in processes), sum(n.collate_s for n in processes)
    measured_cpu = [noted for noted in processes if noted.cpu_samples]
    workers = [rss for noted in processes for rss in noted.rss_workers]
    return Metrics(
        frames_per_s_node=sum(noted.frames / noted.wallclock_s for noted in processes),
        samples_per_s=sum(noted.samples / noted.wallclock_s for noted in processes),
        first_batch_latency_s=max(noted.first_batch_s for noted in processes),
        wallclock_s=max(noted.wallclock_s for noted in processes),
        **_percentiles("sample_latency_ms", [latency for noted in processes for latency in noted.latencies_s]),
        **_percentiles("batch_gap_ms", [gap for noted in processes for gap in noted.gaps_s]),
        stall_share=sum(noted.waited_s for noted in processes) / sum(noted.wallclock_s for noted in processes),
        samples=samples,
        frames=frames,
        padded_share=sum(noted.padded for noted in processes) / frames if frames else 0.0,
        batches=sum(noted.batches for noted in processes),
        epochs=max(noted.epochs for noted in processes),
        workers_seen=sum(noted.workers for noted in processes),
        worker_s_per_sample=(inside + collating) / samples,
        worker_cpu_s_per_sample=(
            sum(noted.cpu_s for noted in measured_cpu) / sum(noted.cpu_samples for noted in measured_cpu)
            if measured_cpu
            else None
        ),
        collate_share=collating / (inside + collating),
        decode_share=None if counts.decode_s is None else counts.decode_s / inside,
        fetch_share=None if counts.fetch_s is None else counts.fetch_s / inside,
        samples_skipped=None if counts.skipped is None else int(counts.skipped),
        peak_rss_main_mib=max(noted.rss_main for noted in processes) / _MIB,
        peak_rss_worker_mib=max(workers) / _MIB if workers else None,
        peak_rss_sum_mib=(sum(noted.rss_main for noted in processes) + sum(workers)) / _MIB,
        video_decoder_cache=_cache(counts),
        missing=_missing(processes, counts),
    )


def _percentiles(name: str, seconds: Sequence[float]) -> dict[str, float]:
    values = np.percentile(seconds, (50, 95, 99)) if seconds else np.zeros(3)
    return {f"p{rank}_{name}": 1e3 * float(value) for rank, value in zip((50, 95, 99), values, strict=True)}


def _cache(counts: Counts) -> CacheMetrics:
    whole = {name: None if (n := getattr(counts, name)) is None else int(n) for name in ("evictions", "size")}
    if counts.hits is None or counts.misses is None:
        return CacheMetrics(**whole)
    asked = counts.hits + counts.misses
    rate = counts.hits / asked if asked else None
    return CacheMetrics(hits=int(counts.hits), misses=int(counts.misses), hit_rate=rate, **whole)


def _missing(processes: Sequence[Noted], counts: Counts) -> dict[str, str]:
    told = {"decode_share": counts.decode_s, "fetch_share": counts.fetch_s, "samples_skipped": counts.skipped}
    told |= {f"video_decoder_cache.{name}": getattr(counts, name) for name in ("hits", "misses", "evictions", "size")}
    missing = {name: _NOT_COUNTED for name, value in told.items() if value is None}
    if counts.hits is None or counts.misses is None:
        missing["video_decoder_cache.hit_rate"] = _NOT_COUNTED
    elif not counts.hits + counts.misses:
        missing["video_decoder_cache.hit_rate"] = "the cache was not asked in the measured time"
    if not any(noted.cpu_samples for noted in processes):
        missing["worker_cpu_s_per_sample"] = (
            "there are no workers: one process reads and consumes"
            if all(noted.in_main for noted in processes)
            else "no worker gave two batches; raise --num_batches"
        )
    if not any(noted.rss_workers for noted in processes):
        missing["peak_rss_worker_mib"] = "there are no workers"
    return missing
