"""Plots of many results: throughput per node, and the percentiles of sample latency."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from streaming_benchmark.errors import BenchmarkError
from streaming_benchmark.result import Result

#: The targets of the specification, in frames per second and node.
TARGETS = {"single": 120.0, "sarm": 320.0}


def plot(results: Sequence[Result], folder: Path) -> list[Path]:
    """Write ``frames_per_s.png`` and ``sample_latency.png`` into ``folder``.

    Raises:
        BenchmarkError: without matplotlib (extra ``plot``), or for a folder that cannot be written to.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise BenchmarkError("plots need matplotlib; install pytest-videodecode[plot], or give --no_plots") from None
    labels = [result.name for result in results]
    height = 1.6 + 0.45 * len(results)

    speed = Figure(figsize=(9, height), layout="constrained")
    axes = speed.subplots()
    axes.barh(labels, [result.metrics.frames_per_s_node for result in results], color="#4477aa")
    for mode in sorted({result.settings.mode for result in results} & TARGETS.keys()):
        axes.axvline(TARGETS[mode], color="#cc6677", linestyle="--", linewidth=1)
        axes.annotate(f"target {mode}", (TARGETS[mode], 1.0), xycoords=("data", "axes fraction"), fontsize=8)
    axes.set_xlabel("frames per second and node")
    axes.invert_yaxis()

    latency = Figure(figsize=(9, height), layout="constrained")
    axes = latency.subplots()
    places = range(len(results))
    for percentile, colour in (("p50", "#4477aa"), ("p95", "#ddaa33"), ("p99", "#cc6677")):
        values = [getattr(result.metrics, f"{percentile}_sample_latency_ms") for result in results]
        axes.scatter(values, places, label=percentile, color=colour)
    axes.set_yticks(list(places), labels)
    axes.set_xlabel("time inside the loader for a sample, ms")
    axes.set_xscale("symlog", linthresh=0.1)
    axes.invert_yaxis()
    axes.legend()

    return [_save(speed, folder / "frames_per_s.png"), _save(latency, folder / "sample_latency.png")]


def _save(figure: object, target: Path) -> Path:
    part = target.with_name(f".{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(part, format="png", dpi=120)  # type: ignore[attr-defined]
        part.replace(target)
    except OSError as error:
        raise BenchmarkError(f"cannot write {target}: {error.strerror}; give another --out_dir") from None
    finally:
        part.unlink(missing_ok=True)
    return target
