"""Throughput in the JSON of pytest-benchmark 5, which its ``compare``, Bencher and github-action-benchmark read.

A *round* is one sample, its time that of one process; ``ops`` is the samples a second of all processes together,
which is what those tools draw. Source of the form: pytest_benchmark/stats.py and plugin.py of 5.3.
"""

from __future__ import annotations

import json
import platform
import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pytest_videodecode.jsonform import to_json
from pytest_videodecode.measurement import Machine, Measurement

#: The version of pytest-benchmark whose form this is.
_VERSION = "5.3.1"


def benchmark_json(
    measurements: Sequence[Measurement], machine: Machine, commit: Mapping[str, Any], when: datetime
) -> str:
    """The text of the file; ``commit`` is pytest-benchmark's ``commit_info``. What has no samples is left out."""
    report = {
        "machine_info": _machine_info(machine),
        "commit_info": dict(commit),
        "benchmarks": [_benchmark(one) for one in measurements if one.latencies_s],
        "datetime": when.isoformat(),
        "version": _VERSION,
    }
    return json.dumps(report, indent=1) + "\n"


def _machine_info(machine: Machine) -> dict[str, Any]:
    return {
        "node": platform.node(),
        "processor": platform.processor(),
        "machine": platform.machine(),
        "python_compiler": platform.python_compiler(),
        "python_implementation": platform.python_implementation(),
        "python_implementation_version": platform.python_version(),
        "python_version": machine.python,
        "python_build": list(platform.python_build()),
        "release": platform.release(),
        "system": platform.system(),
        "cpu": {"brand_raw": machine.cpu, "count": machine.cores},
    }


def _benchmark(measured: Measurement) -> dict[str, Any]:
    param = f"{measured.decoder}-{measured.codec}"
    name = f"throughput[{param}]"
    return {
        "group": f"videodecode {measured.codec}",
        "name": name,
        "fullname": f"videodecode::{name}",
        "params": {"decoder": measured.decoder, "codec": measured.codec},
        "param": param,
        "extra_info": to_json(measured),
        "options": {"disable_gc": False, "timer": "perf_counter", "max_time": measured.seconds, "warmup": True},
        "stats": _stats(sorted(measured.latencies_s), measured.samples_per_s),
    }


def _stats(times: Sequence[float], per_second: float) -> dict[str, Any]:
    mean = statistics.fmean(times)
    deviation = statistics.stdev(times) if len(times) > 1 else 0.0
    q1, median, q3 = statistics.quantiles(times, n=4, method="inclusive") if len(times) > 1 else [times[0]] * 3
    low, high = q1 - 1.5 * (q3 - q1), q3 + 1.5 * (q3 - q1)
    far = sum(abs(time - mean) > deviation for time in times)
    very_far = sum(not low <= time <= high for time in times)
    return {
        "min": times[0],
        "max": times[-1],
        "mean": mean,
        "stddev": deviation,
        "rounds": len(times),
        "median": median,
        "iqr": q3 - q1,
        "q1": q1,
        "q3": q3,
        "iqr_outliers": very_far,
        "stddev_outliers": far,
        "outliers": f"{far};{very_far}",
        "ld15iqr": times[bisect_left(times, low)],
        "hd15iqr": times[bisect_right(times, high) - 1],
        "ops": per_second,
        "total": sum(times),
        "iterations": 1,
    }
