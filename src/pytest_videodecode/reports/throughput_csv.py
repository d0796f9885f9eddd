"""``throughput.csv``: one measurement a row, for spreadsheets and data frames."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from pytest_videodecode.measurement import Measurement

#: Names of fields of ``Measurement``; what is not named here is no single figure.
_FIELDS = (
    "decoder",
    "codec",
    "sample",
    "processes",
    "seconds",
    "samples",
    "samples_per_s",
    "frames_per_s",
    "cpu_per_sample_s",
    "voluntary_per_sample",
    "involuntary_per_sample",
    "decoded_per_sample",
    "threads_peak",
    "rss_peak",
    "p50_s",
    "p95_s",
    "p99_s",
    "identical",
    "overhead",
)
_SPLIT = ("open_s", "first_frame_s", "steady_s")


def throughput_csv(measurements: Sequence[Measurement]) -> str:
    """The text of the file, its header first. What was not measured is empty; times are seconds, memory bytes."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*_FIELDS, *_SPLIT, "lost"])
    for one in measurements:
        split = [getattr(one.split, name) if one.split else None for name in _SPLIT]
        writer.writerow([*(_inert(getattr(one, name)) for name in _FIELDS), *split, len(one.lost)])
    return text.getvalue()


def _inert(cell: object) -> object:
    """A text that a spreadsheet would take for a formula gets an apostrophe before it."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@")) else cell
