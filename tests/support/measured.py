"""Measurements that nobody made, for what is said of them."""

from __future__ import annotations

from typing import Any

from pytest_videodecode.measurement import Comparison, Direction, Machine, Measurement, Split

MACHINE = Machine(cpu="Some CPU", cores=2, memory=8 << 30, system="Linux 6.1", python="3.11.7")

_MEASURED: dict[str, Any] = {
    "decoder": "production",
    "codec": "av1",
    "sample": "2 cameras x 9 frames of a 33-frame window",
    "processes": 4,
    "seconds": 5.0,
    "samples": 8,
    "samples_per_s": 100.0,
    "frames_per_s": 1800.0,
    "cpu_per_sample_s": 0.02,
    "voluntary_per_sample": 40.0,
    "involuntary_per_sample": 10.0,
    "threads_peak": 12,
    "rss_peak": 64 << 20,
    "p50_s": 0.03,
    "p95_s": 0.05,
    "p99_s": 0.06,
    "identical": True,
    "decoded_per_sample": 44.0,
    "split": Split(open_s=0.004, first_frame_s=0.002, steady_s=0.015),
    "versions": {"av": "18.1.0"},
    "latencies_s": (0.01, 0.02, 0.03, 0.03, 0.03, 0.04, 0.05, 0.06),
}

_COMPARED: dict[str, Any] = {
    "before": "production@base",
    "after": "production",
    "metric": "throughput",
    "ratio": 0.9,
    "low": 0.87,
    "high": 0.93,
    "confidence": 0.95,
    "pairs": 40,
    "direction": Direction.SLOWER,
    "at_least": 0.07,
}


def measured(**fields: Any) -> Measurement:
    """A measurement, with these fields in place of the usual ones."""
    return Measurement(**{**_MEASURED, **fields})


def compared(**fields: Any) -> Comparison:
    """A comparison that says slower, with these fields in place of the usual ones."""
    return Comparison(**{**_COMPARED, **fields})
