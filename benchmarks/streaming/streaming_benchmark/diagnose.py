"""What a result says about where the time goes, and what to change."""

from __future__ import annotations

from collections.abc import Iterator

from streaming_benchmark.result import Result

#: Thrash: clips are opened again and again, and the slowest samples pay for it.
LOW_HIT_RATE = 0.8
HIGH_P99 = 5.0  # times the median


def diagnose(result: Result) -> Iterator[str]:
    """One finding a line, the gravest first; the last resort is that nothing stands out."""
    findings = [*_thrash(result), *_skipped(result), *_consumer(result), *_shares(result), *_workers(result)]
    yield from findings or ["nothing stands out: the cache is warm, the tail short, the workers evenly used"]


def thrashes(result: Result) -> bool:
    """The signature of decoder thrash: a low hit rate of the decoder cache with a high p99.

    Where clips were never let go (``evictions`` 0), the cache was only filling.
    """
    metrics = result.metrics
    cache, p50, p99 = metrics.video_decoder_cache, metrics.p50_sample_latency_ms, metrics.p99_sample_latency_ms
    return (
        cache.hit_rate is not None and cache.hit_rate < LOW_HIT_RATE and cache.evictions != 0 and p99 > HIGH_P99 * p50
    )


def _thrash(result: Result) -> Iterator[str]:
    metrics, asked = result.metrics, result.settings
    cache, p50, p99 = metrics.video_decoder_cache, metrics.p50_sample_latency_ms, metrics.p99_sample_latency_ms
    if cache.hit_rate is None:
        why = metrics.missing.get("video_decoder_cache.hit_rate", "the loader does not count")
        yield f"decoder cache: unknown ({why}); thrash can be seen by it only"
    elif thrashes(result):
        yield (
            f"decoder thrash: hit rate {cache.hit_rate:.0%} with p99 {p99:.3g} ms (median {p50:.3g}), and "
            f"{cache.evictions} evictions; raise --video_decoder_cache_size (now {asked.video_decoder_cache_size}) or "
            f"--buffer_size (now {asked.buffer_size}), or lower --num_workers (now {asked.num_workers})"
        )
    elif cache.hit_rate < LOW_HIT_RATE and not cache.evictions:
        yield f"decoder cache: hit rate {cache.hit_rate:.0%} while it was filling; raise --warmup_batches"
    elif cache.hit_rate < LOW_HIT_RATE:
        yield (
            f"decoder cache: hit rate {cache.hit_rate:.0%}, but the tail is short (p99 {p99:.3g} ms, median {p50:.3g} "
            "ms): opening clips is cheap here"
        )


def _skipped(result: Result) -> Iterator[str]:
    if skipped := result.metrics.samples_skipped:
        yield f"{skipped} samples were skipped because of damaged clips; see the loader's warnings for their names"


def _consumer(result: Result) -> Iterator[str]:
    metrics, step = result.metrics, result.settings.consumer_step_ms
    if not step:
        yield (
            f"the consumer does nothing, so it waits ({metrics.stall_share:.0%} of the time); --consumer_step_ms with "
            "the length of a training step shows whether training would"
        )
    elif metrics.stall_share > 0.05:
        yield (
            f"a training step of {step:g} ms would wait for data {metrics.stall_share:.0%} of the time; raise "
            f"--num_workers (now {result.settings.num_workers}) or --prefetch_factor"
        )
    else:
        yield f"a training step of {step:g} ms would wait for data {metrics.stall_share:.0%} of the time: it keeps up"


def _shares(result: Result) -> Iterator[str]:
    metrics = result.metrics
    if (fetch := metrics.fetch_share) is not None and fetch > 0.3:
        yield f"{fetch:.0%} of the loader's time goes into fetching; a nearer or warmed source helps"
    if (decode := metrics.decode_share) is not None and decode > 0.7:
        yield f"{decode:.0%} of the loader's time goes into decoding; more cores, or --video_decode_device cuda, help"
    if metrics.collate_share > 0.3:
        yield f"{metrics.collate_share:.0%} of the workers' time goes into making batches; uint8 pictures help"


def _workers(result: Result) -> Iterator[str]:
    processes = result.place.local_world_size
    if (asked := result.settings.num_workers * processes) > result.metrics.workers_seen:
        yield (
            f"{asked - result.metrics.workers_seen} of {asked} workers gave no batch: the loader has fewer shards "
            "than workers, or too few batches were measured"
        )
