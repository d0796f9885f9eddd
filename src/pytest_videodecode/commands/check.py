"""``videodecode check``: every check on a decoder, and what holds."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_videodecode.commands.settings import add_settings, read_settings
from pytest_videodecode.options import BY_NAME

if TYPE_CHECKING:
    from pytest_videodecode.selection import Case, CorpusCase, LoaderCase

_SETTINGS = [name for name in BY_NAME if name != "decoder"]


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser("check", help="Run every check on a decoder, and say what holds")
    parser.add_argument(
        "decoder",
        nargs="*",
        metavar="SPEC",
        help="NAME[,option=value...][@PYTHON], NAME registered or module:function",
    )
    add_settings(parser, _SETTINGS)
    parser.set_defaults(command=run)


def run(arguments: argparse.Namespace) -> int:
    """Exit status: 0 when all holds that can be checked here, 1 when something does not."""
    from pytest_videodecode.environment import environment
    from pytest_videodecode.reports.results import results, write_results
    from pytest_videodecode.reports.summary import is_good, summary_lines
    from pytest_videodecode.selection import CHECK_NAMES, cases, corpus_cases, in_order, loader_cases
    from pytest_videodecode.session import Session

    settings = read_settings(arguments, _SETTINGS)
    planned: list[Case | CorpusCase | LoaderCase] = [*loader_cases(settings)]
    if arguments.decoder or not settings.loader:  # who names a loader alone means that alone
        planned = [*cases(settings), *corpus_cases(settings), *planned]
    verdicts = []
    with Session(settings, Path.cwd()) as session:
        for number, case in enumerate(planned, 1):
            start = time.monotonic()
            verdict = session.run(case)
            verdicts.append(verdict)
            status = "as expected" if verdict.expected else verdict.status
            took = time.monotonic() - start
            print(f"[{number}/{len(planned)}] {status:<11} {took:5.1f} s  {case}", flush=True)
        verdicts += session.close()
    print()
    for line in summary_lines(in_order(verdicts, settings), settings.seed, CHECK_NAMES):
        print(line)
    if settings.report:
        print(f"report: {write_results(Path(settings.report), results(verdicts, environment(), settings.seed))}")
    return 0 if all(is_good(verdict) or verdict.status == "unsupported" for verdict in verdicts) else 1
