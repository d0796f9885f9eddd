"""``videodecode fuzz``: look for damage that a decoder does not stand."""

from __future__ import annotations

import argparse
import math
import secrets
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_videodecode.commands.settings import add_settings, flag, read_settings
from pytest_videodecode.errors import OptionError
from pytest_videodecode.options import Settings

if TYPE_CHECKING:
    from pytest_videodecode.fuzz.search import Plan, Seen, Tally

#: The settings that a search shares with a run of the checks.
_SETTINGS = ("codecs", "timeout", "memory", "threads_env", "allowed_errors", "seed")

_DEFAULT_SECONDS = 60.0
_SHRINK_SECONDS = 30.0
_MAX_PROCESSES = 1024


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser("fuzz", help="Look for damage that a decoder does not stand, for a time")
    parser.add_argument("decoder", metavar="SPEC", help="NAME[,option=value...][@PYTHON] or module:function")
    add_settings(parser, _SETTINGS, {"seed": "Seed (default: a new one, which is printed)"})
    parser.add_argument("--seconds", metavar="S", help=f"How long to search (default: {_DEFAULT_SECONDS:g})")
    parser.add_argument("--examples", metavar="N", help="How many damaged decodes to make instead, in all")
    parser.add_argument(
        "--shrink-seconds",
        metavar="S",
        help=f"How long one failure is made smaller at most (default: {_SHRINK_SECONDS:g})",
    )
    parser.add_argument("-n", "--processes", metavar="N", default="1", help="Processes (default: 1)")
    parser.add_argument(
        "--folder", metavar="DIR", default=".", help="Examples and failures are kept in its .videodecode (default: .)"
    )
    parser.add_argument("--events", action="store_true", help=argparse.SUPPRESS)
    parser.set_defaults(command=run)


def run(arguments: argparse.Namespace) -> int:
    """Exit status: 1 when something came that must not come."""
    from pytest_videodecode.failures.store import FOLDER, FailureStore
    from pytest_videodecode.fuzz.progress import Progress, merged, table
    from pytest_videodecode.fuzz.search import Plan

    settings = read_settings(arguments, _SETTINGS)
    if not settings.codecs:
        raise OptionError("--codecs: no clip is named; give codecs, or recipes such as h264:bframes=2")
    processes = _count("--processes", arguments.processes, _MAX_PROCESSES)
    if arguments.seconds is not None and arguments.examples is not None:
        raise OptionError("--seconds and --examples: give one of them")
    plan = Plan(
        seed=settings.seed if arguments.seed is not None else secrets.randbelow(1 << 32),
        examples=None if arguments.examples is None else _count("--examples", arguments.examples, 10**9),
        seconds=None if arguments.examples else _seconds("--seconds", arguments.seconds, _DEFAULT_SECONDS),
        shrink_s=_seconds("--shrink-seconds", arguments.shrink_seconds, _SHRINK_SECONDS),
    )
    if arguments.events:
        _as_events(settings, Path(arguments.folder), plan)
        return 0
    amount = f"{plan.seconds:g} s" if plan.examples is None else f"{plan.examples} examples"
    print(f"{arguments.decoder} on {', '.join(settings.codecs)}: {amount}, seed {plan.seed}", flush=True)
    root = Path(arguments.folder)
    progress = Progress(FailureStore(root / FOLDER))
    try:
        if processes == 1:
            tallies = _here(settings, root, plan, progress.tell)
        else:
            tallies = _spread(arguments, processes, plan, progress.tell)
    finally:
        progress.end()
    tallies = merged(tallies)
    print()
    for line in table(tallies):
        print(line)
    return 1 if any(tally.failed for tally in tallies) else 0


def _as_events(settings: Settings, root: Path, plan: Plan) -> None:
    """Search as one of several processes: what is seen goes to the parent."""
    from pytest_videodecode.fuzz.processes import Event, write_event

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # end in good order, workers and all
    for tally in _here(settings, root, plan, lambda seen: write_event(Event(seen=seen), sys.stdout)):
        write_event(Event(tally=tally), sys.stdout)


def _here(settings: Settings, root: Path, plan: Plan, tell: Callable[[Seen], None]) -> list[Tally]:
    from pytest_videodecode.checks.base import ALLOWED_ERRORS
    from pytest_videodecode.failures.store import FOLDER, FailureStore
    from pytest_videodecode.fuzz.search import DATABASE, Search
    from pytest_videodecode.fuzz.trials import Trials
    from pytest_videodecode.selection import sources
    from pytest_videodecode.session import Session

    with Session(settings, root) as session:
        decoder = settings.decoder[0]
        trials = [
            Trials(
                session.clip(source),
                session.info(decoder),
                partial(session.decode, decoder),
                session.scratch / str(number),
                session.clips,
                most_s=settings.timeout,
                allowed=settings.allowed_errors or ALLOWED_ERRORS,
            )
            for number, source in enumerate(sources(settings))
        ]
        search = Search(trials, FailureStore(root / FOLDER), root / DATABASE, plan, tell)
        search.run()
        return search.tallies


def _spread(arguments: argparse.Namespace, processes: int, plan: Plan, tell: Callable[[Seen], None]) -> list[Tally]:
    from pytest_videodecode.fuzz.processes import run_many

    same = [f"--folder={arguments.folder}", f"--shrink-seconds={plan.shrink_s}"]
    for name in _SETTINGS:
        if name != "seed" and (value := getattr(arguments, name, None)) is not None:
            same.append(f"{flag(name)}={value}")
    if plan.examples is None:
        amounts = [f"--seconds={plan.seconds}"] * processes
    else:
        share, rest = divmod(plan.examples, processes)
        amounts = [f"--examples={share + (number < rest)}" for number in range(min(processes, plan.examples))]
    own = [
        [arguments.decoder, *same, amount, f"--seed={(plan.seed + number) % (1 << 32)}"]
        for number, amount in enumerate(amounts)
    ]
    return run_many(own, tell)


def _count(name: str, text: str, most: int) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 10 or not 1 <= int(text) <= most:
        raise OptionError(f"{name}: {text!r} is no number from 1 to {most}")
    return int(text)


def _seconds(name: str, text: str | None, default: float) -> float:
    try:
        seconds = default if text is None else float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise OptionError(f"{name}: {text!r} is no time; give seconds above 0")
    return seconds
