"""``videodecode throughput``: how much decoders do when many processes decode, and whether that became worse."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from pytest_videodecode.commands.settings import add_settings, read_settings
from pytest_videodecode.errors import OptionError

_SETTINGS = (
    "codecs",
    "processes",
    "seconds",
    "baseline",
    "against",
    "limits",
    "report",
    "benchmark_json",
    "timeout",
    "memory",
    "threads_env",
    "require",
    "seed",
)


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser("throughput", help="Measure many processes decoding at once, and hold it to limits")
    parser.add_argument("decoder", nargs="*", metavar="SPEC", help="NAME[,option=value...][@PYTHON], module:function")
    add_settings(parser, _SETTINGS, {"report": "Folder for throughput.json, throughput.csv and summary.md"})
    parser.add_argument(
        "--update-baseline", action="store_true", help="Write what is measured into the baseline; compare with nothing"
    )
    parser.set_defaults(command=run)


def run(arguments: argparse.Namespace) -> int:
    """Exit status: 1 for a regression, a lost seat, pixels that differ, or nothing to compare with."""
    from pytest_videodecode.measure.machine import this_machine
    from pytest_videodecode.measuring import Measuring
    from pytest_videodecode.reports.job_summary import job_summary, write_job_summary
    from pytest_videodecode.reports.throughput import throughput_lines

    settings = read_settings(arguments, _SETTINGS)
    if arguments.update_baseline and not settings.baseline:
        raise OptionError("--update-baseline: name the file by --baseline")
    measuring = Measuring(
        settings=settings,
        processes=settings.processes or this_machine().cores,
        update=arguments.update_baseline,
        tell=lambda line: print(line, file=sys.stderr, flush=True),
    )
    measuring.check()
    measuring.prepare()
    measuring.measure_here()
    report = measuring.conclude()
    for line in throughput_lines(report):
        print(line)
    for path in measuring.write(report):
        print(f"report: {path}")
    folder = Path(settings.report) if settings.report else None
    write_job_summary(job_summary((), settings.seed, report), folder, os.environ.get("GITHUB_STEP_SUMMARY", ""))
    return 1 if report.faults else 0
