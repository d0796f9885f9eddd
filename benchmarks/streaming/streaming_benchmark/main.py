"""The command: ``run`` (also without its name), ``diagnose``, ``summarize``."""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_videodecode.errors import VideodecodeError
from streaming_benchmark.arguments import parse_run
from streaming_benchmark.diagnose import diagnose
from streaming_benchmark.result import Result, read_result, write_text
from streaming_benchmark.summarize import csv_table, find_results, markdown_table, text_table

_DESCRIPTION = """Measure data loading alone: parquet, video decode, windows, shuffle; no model.

benchmark_streaming.py [run] OPTIONS      measure, and write DIR/{source}_{mode}_bs{B}_w{W}_{device}.json and .csv
benchmark_streaming.py diagnose FILE...   say where the time goes, and what to change
benchmark_streaming.py summarize PATH...  one table and plots of many result files
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Exit status: 0 when done, 1 when it could not be, 2 for arguments that cannot be, 130 on Ctrl-C."""
    words = list(sys.argv[1:] if argv is None else argv)
    commands = {"run": _run, "diagnose": _diagnose, "summarize": _summarize}
    name = words.pop(0) if words and words[0] in commands else "run"
    try:
        return commands[name](words)
    except VideodecodeError as error:
        print(f"benchmark_streaming: {error}", file=sys.stderr)
        if "--traceback" in words and error.__cause__:
            traceback.print_exception(error.__cause__)
        return 1
    except KeyboardInterrupt:
        print("benchmark_streaming: stopped; nothing was written", file=sys.stderr)
        return 130


def report(result: Result) -> Iterator[str]:
    """The figures of one result for a terminal."""
    metrics = result.metrics
    cache = metrics.video_decoder_cache
    yield f"{result.name}: {metrics.frames_per_s_node:.1f} frames/s/node, {metrics.samples_per_s:.1f} samples/s"
    yield (
        f"  {metrics.batches} batches, {metrics.samples} samples, {metrics.frames} frames in "
        f"{metrics.wallclock_s:.2f} s; first batch after {metrics.first_batch_latency_s:.2f} s"
    )
    yield (
        f"  sample latency p50 {metrics.p50_sample_latency_ms:.2f}, p95 {metrics.p95_sample_latency_ms:.2f}, "
        f"p99 {metrics.p99_sample_latency_ms:.2f} ms; batch gap p50 {metrics.p50_batch_gap_ms:.2f}, "
        f"p99 {metrics.p99_batch_gap_ms:.2f} ms"
    )
    if cache.hit_rate is not None:
        yield (
            f"  decoder cache: {cache.hits} hits, {cache.misses} misses, {cache.evictions} evictions, "
            f"{cache.hit_rate:.1%} hit rate, size {cache.size}"
        )
    yield f"  consumer stalled {metrics.stall_share:.0%}; peak RSS {metrics.peak_rss_sum_mib:.0f} MiB in all"
    for node, frames in enumerate(result.frames_per_s_by_node):
        yield f"  node {node}: {frames:.1f} frames/s"
    for reason in dict.fromkeys(metrics.missing.values()):
        names = [name for name, why in metrics.missing.items() if why == reason]
        yield f"  not measured: {', '.join(names)} ({reason})"


def _run(words: list[str]) -> int:
    parser = _parser("run")
    parser.description = _DESCRIPTION
    parser.add_argument("--traceback", action="store_true", help="Where a loader raised, also show where")
    settings = parse_run(words, parser)
    from streaming_benchmark.run import run

    result, written = run(settings)
    if written:
        for line in (*report(result), *(f"  {finding}" for finding in diagnose(result))):
            print(line)
        print(f"written: {', '.join(map(str, written))}")
    return 0


def _diagnose(words: list[str]) -> int:
    parser = _parser("diagnose")
    parser.add_argument("files", nargs="+", metavar="FILE", help="Result file (.json)")
    for file in parser.parse_args(words).files:
        result = read_result(Path(file))
        print(f"{result.name}:")
        for finding in diagnose(result):
            print(f"  {finding}")
    return 0


def _summarize(words: list[str]) -> int:
    parser = _parser("summarize")
    parser.add_argument("paths", nargs="+", metavar="PATH", help="Result files, or folders of them")
    parser.add_argument(
        "--out_dir", metavar="DIR", help="Where summary.csv, summary.md and plots go (default: nowhere)"
    )
    parser.add_argument("--no_plots", action="store_true", help="Tables only")
    given = parser.parse_args(words)
    results = find_results(given.paths)
    for line in text_table(results):
        print(line)
    if given.out_dir:
        folder = Path(given.out_dir)
        written = [
            write_text(folder / "summary.csv", csv_table(results)),
            write_text(folder / "summary.md", "\n".join(markdown_table(results)) + "\n"),
        ]
        if not given.no_plots:
            from streaming_benchmark.plots import plot

            written += plot(results, folder)
        print(f"written: {', '.join(map(str, written))}")
    return 0


def _parser(command: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(
        prog=f"benchmark_streaming.py {command}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
