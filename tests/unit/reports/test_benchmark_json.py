"""The form is that of pytest-benchmark 5.3; its own ``compare`` has been run on such a file."""

from __future__ import annotations

import json
import statistics
from datetime import UTC, datetime
from typing import Any

from measured import MACHINE, measured

from pytest_videodecode.measurement import Measurement
from pytest_videodecode.reports.benchmark_json import benchmark_json

COMMIT = {"id": "0" * 40, "time": None, "author_time": None, "dirty": False, "project": "mylab", "branch": "main"}
WHEN = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)

#: What pytest_benchmark.stats.Stats has, and ``data``, which it leaves out unless it is asked.
STATS = (
    "min max mean stddev rounds median iqr q1 q3 iqr_outliers stddev_outliers outliers ld15iqr hd15iqr ops total "
    "iterations"
)


def written(*measurements: Measurement) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(benchmark_json(measurements, MACHINE, COMMIT, WHEN))
    return data


def test_document_has_the_fields_that_are_read() -> None:
    data = written(measured())
    assert list(data) == ["machine_info", "commit_info", "benchmarks", "datetime", "version"]
    assert data["machine_info"]["cpu"] == {"brand_raw": "Some CPU", "count": 2}
    assert (data["commit_info"], data["datetime"]) == (COMMIT, "2026-12-01T12:00:00+00:00")


def test_benchmark_is_named_after_decoder_and_codec() -> None:
    (one,) = written(measured())["benchmarks"]
    assert (one["fullname"], one["group"]) == ("videodecode::throughput[production-av1]", "videodecode av1")
    assert one["params"] == {"decoder": "production", "codec": "av1"}
    assert one["extra_info"]["cpu_per_sample_s"] == 0.02


def test_statistics_are_those_of_the_latencies_and_ops_the_samples_a_second_of_all() -> None:
    times = (0.05, 0.01, 0.02, 0.03, 0.9)
    (one,) = written(measured(latencies_s=times))["benchmarks"]
    stats = one["stats"]
    assert list(stats) == STATS.split()
    assert (stats["min"], stats["max"], stats["rounds"], stats["iterations"]) == (0.01, 0.9, 5, 1)
    assert (stats["median"], stats["q1"], stats["q3"]) == (0.03, 0.02, 0.05)
    assert stats["mean"] == statistics.fmean(times)
    assert stats["stddev"] == statistics.stdev(times)
    assert (stats["outliers"], stats["ld15iqr"], stats["hd15iqr"]) == ("1;1", 0.01, 0.05)
    assert stats["ops"] == 100.0


def test_one_sample_is_enough_and_none_leaves_a_measurement_out() -> None:
    one = written(measured(latencies_s=(0.5,)), measured(latencies_s=()))["benchmarks"]
    assert [(bench["stats"]["stddev"], bench["stats"]["iqr"]) for bench in one] == [(0.0, 0.0)]
