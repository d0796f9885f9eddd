"""``videodecode tune``: which thread cap a decoder should have on this machine."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_videodecode.commands.settings import add_settings, read_settings
from pytest_videodecode.errors import OptionError

if TYPE_CHECKING:
    from pytest_videodecode.measure.tune import Tuning

_SETTINGS = ("codecs", "threads", "seconds", "timeout", "memory", "threads_env", "seed")

_DEFAULT_SECONDS = 60.0
_LEAST_SECONDS = 5.0
_MOST_SECONDS = 3600.0
_MAX_PROCESSES = 4096


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser("tune", help="Say which thread count a decoder should have on this machine")
    parser.add_argument("decoder", metavar="SPEC", help="NAME[,option=value...][@PYTHON] or module:function")
    helps = {
        "codecs": "Generated clip, one (default: av1)",
        "threads": "Thread counts to try, 0 is automatic (default: 0,1,2,4)",
        "seconds": f"Seconds that the sweep takes (default: {_DEFAULT_SECONDS:g})",
    }
    add_settings(parser, _SETTINGS, helps)
    parser.add_argument(
        "--processes", metavar="LIST", help="Numbers of processes; 1 is always tried (default: cores, twice the cores)"
    )
    parser.add_argument("--plot", metavar="FILE", help="Draw the sweep into this file, such as tune.png")
    parser.add_argument("--json", action="store_true", help="Print JSON")
    parser.set_defaults(command=run)


def run(arguments: argparse.Namespace) -> int:
    """Exit status: 1 when the thread count changes the pixels."""
    from pytest_videodecode.jsonform import to_json
    from pytest_videodecode.measure.machine import this_machine
    from pytest_videodecode.measure.plot import plot, require_matplotlib
    from pytest_videodecode.measure.tune import tune

    settings = read_settings(arguments, _SETTINGS)
    seconds = _DEFAULT_SECONDS if arguments.seconds is None else settings.seconds
    if not _LEAST_SECONDS <= seconds <= _MOST_SECONDS:
        raise OptionError(
            f"--seconds: {seconds:g} is no time for a sweep; give {_LEAST_SECONDS:g} to {_MOST_SECONDS:g}"
        )
    codecs = ("av1",) if arguments.codecs is None else settings.codecs
    if len(codecs) != 1:
        raise OptionError(f"--codecs: {len(codecs)} clips; a thread count is tuned on one, such as av1")
    cores = this_machine().cores
    processes = _counts(arguments.processes) if arguments.processes else [cores, 2 * cores]
    path = Path(arguments.plot) if arguments.plot else None
    if path:
        require_matplotlib(path)
    found = tune(arguments.decoder, codecs[0], settings.threads, processes, settings, seconds=seconds)
    if path:
        plot(found, path)
    if arguments.json:
        print(json.dumps({"schema": "videodecode-tune/1", **to_json(found)}, indent=1))
    else:
        for line in lines(found):
            print(line)
        if path:
            print(f"plot: {path}")
    return 0 if found.identical else 1


def lines(found: Tuning) -> Iterator[str]:
    """The sweep as a table, the reasons, and last what to set."""
    from pytest_videodecode.measure.tune import named

    yield f"{found.decoder} on {found.codec}, sample: {found.sample}"
    yield f"{'threads':>7}  {'processes':>9}  {'samples/s':>9}  {'CPU ms':>7}  {'latency ms':>10}  {'rounds':>6}"
    for cell in found.cells:
        yield (
            f"{'auto' if cell.threads == 0 else cell.threads:>7}  {cell.processes:>9}  {cell.samples_per_s:>9.1f}  "
            f"{cell.cpu_per_sample_s * 1000:>7.1f}  {cell.latency_s * 1000:>10.1f}  {cell.rounds:>6}"
        )
    yield f"pixels: {'identical for every count' if found.identical else 'DIFFER by thread count'}"
    yield from found.reasons
    yield f"set {named(found.threads)}: {found.set_by} = {found.threads}"


def _counts(text: str) -> list[int]:
    counts = []
    for part in text.split(","):
        number = part.strip()
        if not (number.isascii() and number.isdigit()) or len(number) > 4 or not 1 <= int(number) <= _MAX_PROCESSES:
            raise OptionError(f"--processes: {number!r} is no number of processes; give 1 to {_MAX_PROCESSES}")
        counts.append(int(number))
    return counts
