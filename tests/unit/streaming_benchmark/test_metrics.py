"""Every figure is what its name says."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from made_up_results import consumed, timing
from streaming_benchmark.errors import BenchmarkError
from streaming_benchmark.metrics import Metrics, figures
from streaming_benchmark.noted import note
from streaming_benchmark.statistics import Counts
from streaming_benchmark.timing import BatchTiming


def measured(
    *batches: BatchTiming, warmup: Sequence[BatchTiming] = (), in_main: bool = False, every_s: float = 1.0
) -> Metrics:
    seen = consumed(batches, warmup, every_s)
    return figures([note(seen, rss_main=200 << 20, in_main=in_main)])


def test_frames_count_every_camera_and_every_frame_of_the_window() -> None:
    got = measured(timing([0.01] * 4), timing([0.01] * 4))

    assert got.samples_per_s == 4.0
    assert got.frames_per_s_node == 64.0  # 2 cameras x 8 frames of each sample


def test_latency_is_of_single_samples_inside_the_loader() -> None:
    got = measured(timing([0.001] * 98 + [0.1, 0.2]))

    assert got.p50_sample_latency_ms == pytest.approx(1.0)
    assert got.p95_sample_latency_ms == pytest.approx(1.0)
    assert got.p99_sample_latency_ms == pytest.approx(101.0, abs=0.5)


def test_batch_gap_is_from_arrival_to_arrival() -> None:
    got = measured(*[timing([0.001])] * 5, every_s=0.25)

    assert got.p50_batch_gap_ms == pytest.approx(250.0)
    assert got.stall_share == pytest.approx(0.5)


def test_warmup_counts_for_the_first_batch_only() -> None:
    got = measured(timing([0.01] * 4), warmup=[timing([5.0] * 4)], every_s=2.0)

    assert got.first_batch_latency_s == 2.0
    assert got.p99_sample_latency_ms == pytest.approx(10.0)
    assert (got.samples, got.batches, got.wallclock_s) == (4, 1, 2.0)


def test_counts_are_those_of_the_measured_time_over_all_workers() -> None:
    before = Counts(hits=100, misses=10, evictions=5, size=4, decode_s=1.0, fetch_s=0.5, skipped=1)
    after = Counts(hits=130, misses=20, evictions=9, size=6, decode_s=1.5, fetch_s=0.6, skipped=3)
    other = Counts(hits=10, misses=0, evictions=0, size=3, decode_s=0.5, fetch_s=0.0, skipped=0)

    got = measured(
        timing([1.0], pid=1, counts=after), timing([1.0], pid=2, counts=other), warmup=[timing([1.0], 1, before)]
    )

    cache = got.video_decoder_cache
    assert (cache.hits, cache.misses, cache.evictions, cache.size, cache.hit_rate) == (40, 10, 4, 9, 0.8)
    assert got.decode_share == pytest.approx(0.5)  # 0.5 + 0.5 of 2 s inside the loaders
    assert got.fetch_share == pytest.approx(0.05)
    assert got.samples_skipped == 2
    assert got.workers_seen == 2
    assert got.missing == {}


def test_what_a_loader_does_not_count_is_none_with_the_reason() -> None:
    got = measured(timing([1.0]))

    assert got.video_decoder_cache.hit_rate is None
    assert got.decode_share is None
    assert got.missing["decode_share"] == "the loader's statistics do not have it"
    assert got.missing["video_decoder_cache.hit_rate"] == "the loader's statistics do not have it"


def test_cpu_is_that_between_two_batches_of_a_worker() -> None:
    got = measured(timing([1.0] * 4, cpu_s=9.0), timing([1.0] * 4, cpu_s=11.0))

    assert got.worker_cpu_s_per_sample == 0.5  # what the worker took to start is not among it


def test_memory_is_that_of_workers_and_main() -> None:
    got = measured(timing([1.0], 1), timing([1.0], 2, rss_peak=300 << 20))

    assert (got.peak_rss_main_mib, got.peak_rss_worker_mib, got.peak_rss_sum_mib) == (200, 300, 600)


def test_without_workers_there_is_one_process() -> None:
    got = measured(timing([1.0]), in_main=True)

    assert got.peak_rss_worker_mib is None
    assert got.peak_rss_sum_mib == 200
    assert got.missing["peak_rss_worker_mib"] == "there are no workers"


def test_processes_of_a_node_add_up() -> None:
    fast = note(consumed([timing([0.01] * 4)]), rss_main=1 << 20, in_main=False)
    slow = note(consumed([timing([0.03] * 4)], every_s=2.0), rss_main=1 << 20, in_main=False)

    got = figures([fast, slow])

    assert got.frames_per_s_node == 64.0 + 32.0
    assert got.p50_sample_latency_ms == pytest.approx(20.0)
    assert got.wallclock_s == 2.0


def test_nothing_measured_is_an_error() -> None:
    with pytest.raises(BenchmarkError, match="no batch was measured; lower --warmup_batches"):
        measured(warmup=[timing([1.0])])
