"""Many result files as one table: a row each, with a node's throughput beside that of the same run on one node."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from streaming_benchmark.diagnose import thrashes
from streaming_benchmark.errors import BenchmarkError
from streaming_benchmark.result import Result, flat, read_result

#: Most files taken from one folder.
_MAX_FILES = 10_000


def find_results(paths: Iterable[str]) -> list[Result]:
    """The results in files, and in folders (not in what lies below them), in the order of ``key``.

    Raises:
        BenchmarkError: a path that is not there, a file that is no result, or no result at all.
    """
    files: list[Path] = []
    for text in paths:
        path = Path(text)
        if path.is_dir():
            files += sorted(path.glob("*.json"))[:_MAX_FILES]
        elif path.is_file():
            files.append(path)
        else:
            raise BenchmarkError(f"there is no {text}; give result files, or folders of them")
    results = [read_result(file) for file in dict.fromkeys(files)]
    if not results:
        raise BenchmarkError(f"no result files in {', '.join(paths)}; run the benchmark with --out_dir there first")
    return sorted(results, key=lambda result: (*map(str, key(result)), result.place.nodes, result.place.node))


def key(result: Result) -> tuple[str | int, ...]:
    """What two results share whose nodes may be compared: everything asked but the number of nodes."""
    asked = result.settings
    return (
        asked.dataset,
        asked.source,
        asked.mode,
        asked.batch_size,
        asked.num_workers,
        asked.video_decode_device,
        str(asked.repo_id or asked.root),
    )


def against_single(result: Result, results: Sequence[Result]) -> float | None:
    """This node's throughput over that of the same run on a single node, the median where there are several."""
    alone = [r.metrics.frames_per_s_node for r in results if r.place.nodes == 1 and key(r) == key(result)]
    return result.metrics.frames_per_s_node / statistics.median(alone) if alone else None


_COLUMNS: tuple[tuple[str, Callable[[Result, Sequence[Result]], str]], ...] = (
    ("dataset", lambda r, _: r.settings.dataset),
    ("source", lambda r, _: r.settings.source),
    ("mode", lambda r, _: r.settings.mode),
    ("batch", lambda r, _: str(r.settings.batch_size)),
    ("workers", lambda r, _: str(r.settings.num_workers)),
    ("decode", lambda r, _: r.settings.video_decode_device),
    ("node", lambda r, _: f"{r.place.node + 1}/{r.place.nodes}"),
    ("frames/s/node", lambda r, _: f"{r.metrics.frames_per_s_node:.1f}"),
    ("vs 1 node", lambda r, every: _ratio(against_single(r, every))),
    ("samples/s", lambda r, _: f"{r.metrics.samples_per_s:.1f}"),
    ("first batch s", lambda r, _: f"{r.metrics.first_batch_latency_s:.2f}"),
    ("p50 ms", lambda r, _: f"{r.metrics.p50_sample_latency_ms:.2f}"),
    ("p95 ms", lambda r, _: f"{r.metrics.p95_sample_latency_ms:.2f}"),
    ("p99 ms", lambda r, _: f"{r.metrics.p99_sample_latency_ms:.2f}"),
    ("hit rate", lambda r, _: _percent(r.metrics.video_decoder_cache.hit_rate) + (" thrash" if thrashes(r) else "")),
    ("stall", lambda r, _: _percent(r.metrics.stall_share)),
    ("decode share", lambda r, _: _percent(r.metrics.decode_share)),
    ("RSS MiB", lambda r, _: f"{r.metrics.peak_rss_sum_mib:.0f}"),
)


def rows(results: Sequence[Result]) -> list[list[str]]:
    """The table, its head first."""
    return [[name for name, _ in _COLUMNS], *([cell(r, results) for _, cell in _COLUMNS] for r in results)]


def text_table(results: Sequence[Result]) -> Iterator[str]:
    """The table in columns for a terminal."""
    table = rows(results)
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    for row in table:
        yield "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def markdown_table(results: Sequence[Result]) -> Iterator[str]:
    """The table for a page; what comes from a file cannot break out of its cell."""
    head, *body = rows(results)
    yield f"| {' | '.join(head)} |"
    yield f"|{' --- |' * len(head)}"
    for row in body:
        yield f"| {' | '.join(_escaped(cell) for cell in row)} |"


def csv_table(results: Sequence[Result]) -> str:
    """Every setting and figure of every result."""
    lines = [{**flat(result), "vs_single_node": against_single(result, results)} for result in results]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(lines[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: "" if value is None else value for name, value in line.items()} for line in lines)
    return out.getvalue()


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _percent(value: float | None) -> str:
    return "?" if value is None else f"{value:.0%}"


def _escaped(text: str) -> str:
    for mark in ("\\", "|", "<", ">", "[", "]", "`", "*", "_"):
        text = text.replace(mark, f"\\{mark}")
    return " ".join(text.split())
