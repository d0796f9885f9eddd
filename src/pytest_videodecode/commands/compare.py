"""``videodecode compare``: decoders, or settings of one, side by side on this machine."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pytest_videodecode.commands.settings import add_settings, read_settings
from pytest_videodecode.errors import OptionError

if TYPE_CHECKING:
    from pytest_videodecode.measure.compare import Compared

_SETTINGS = ("codecs", "processes", "seconds", "timeout", "memory", "threads_env", "seed")

_DEFAULT_SECONDS = 45.0
_LEAST_SECONDS = 5.0
_MOST_SECONDS = 3600.0

#: A verdict takes the time of a coffee, so there is one codec unless more are named.
_DEFAULT_CODECS = ("av1",)


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser("compare", help="Say which of two decoders or settings is faster, and how sure")
    parser.add_argument("before", metavar="BEFORE", help="NAME[,option=value...][@PYTHON] or module:function")
    parser.add_argument("after", nargs="+", metavar="AFTER", help="What is held against it; may be the same")
    helps = {
        "codecs": f"Generated clips (default: {','.join(_DEFAULT_CODECS)})",
        "seconds": f"Seconds of one comparison, all decoders on one codec (default: {_DEFAULT_SECONDS:g})",
    }
    add_settings(parser, _SETTINGS, helps)
    parser.add_argument("--least", metavar="SHARE", default="0.05", help="Smallest effect that counts (default: 0.05)")
    parser.add_argument("--json", action="store_true", help="Print JSON")
    parser.set_defaults(command=run)


def run(arguments: argparse.Namespace) -> int:
    """Exit status: 1 when one is slower than BEFORE, or shows other pixels."""
    from pytest_videodecode.jsonform import to_json
    from pytest_videodecode.measure.compare import compare_all
    from pytest_videodecode.measure.machine import this_machine
    from pytest_videodecode.measure.statistics import Rule
    from pytest_videodecode.measurement import Direction

    decoders = [arguments.before, *arguments.after]
    arguments.decoder = decoders  # looked up there; what is named twice is kept here
    settings = read_settings(arguments, _SETTINGS)
    seconds = _DEFAULT_SECONDS if arguments.seconds is None else settings.seconds
    if not _LEAST_SECONDS <= seconds <= _MOST_SECONDS:
        raise OptionError(
            f"--seconds: {seconds:g} is no time for a comparison; give {_LEAST_SECONDS:g} to {_MOST_SECONDS:g}"
        )
    codecs = _DEFAULT_CODECS if arguments.codecs is None else settings.codecs
    if not codecs:
        raise OptionError("--codecs: no clip is named; give a codec, or a recipe such as h264:gop=12")
    rule = Rule(least=_share(arguments.least))
    processes = settings.processes or this_machine().cores
    found = {}
    for codec in codecs:
        found[codec] = compare_all(decoders, codec, processes, settings, seconds=seconds, rule=rule, alone=True)
        if not arguments.json:
            for line in lines(codec, found[codec], rule):
                print(line, flush=True)
    if arguments.json:
        print(json.dumps({"schema": "videodecode-compare/1", "codecs": to_json(found)}, indent=1))
    slower = any(one.direction is Direction.SLOWER for each in found.values() for one in each.verdicts)
    return 1 if slower or not all(each.identical for each in found.values()) else 0


def lines(codec: str, found: Compared, rule: Any) -> Iterator[str]:
    """The table of settings, then a verdict for each but the first with the figures of both metrics."""
    from pytest_videodecode.reports.throughput import compared

    first = found.settings[0].measured
    seats = "1 process" if first.processes == 1 else f"{first.processes} processes"
    yield f"{codec}: {seats}, sample: {first.sample}; ranges are the middle 80 % of rounds"
    table = [["", "samples/s", "CPU ms a sample", "threads", "alone: sample", "first frame", "open"]]
    for setting in found.settings:
        measured, split = setting.measured, setting.measured.split
        assert split is not None
        table.append(
            [
                measured.decoder,
                _range(setting.rates),
                _range([cpu * 1000 for cpu in setting.cpu_per_sample_s]),
                str(measured.threads_peak),
                *(f"{time * 1000:.1f} ms" for time in (split.steady_s, split.first_frame_s, split.open_s)),
            ]
        )
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        yield "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
    yield f"pixels: {'identical in all seats of all settings' if found.identical else 'DIFFER'}"
    for place, verdict in enumerate(found.verdicts):
        yield compared(codec, verdict)
        for one in found.by_metric[2 * place : 2 * place + 2]:
            yield f"  {one.metric}: x {one.ratio:.3f} ({one.low:.3f} to {one.high:.3f}), {one.direction}"
        before, after = (found.settings[place].measured.split for place in (0, place + 1))
        if before and after and after.steady_s > before.steady_s * (1 + rule.least):
            share = after.steady_s / before.steady_s - 1
            yield f"  alone, one sample takes {share:.0%} longer: a single stream loses by it"


def _range(figures: Sequence[float]) -> str:
    import numpy as np

    low, middle, high = np.percentile(figures, [10, 50, 90])
    digits = 1 if middle < 100 else 0
    return f"{middle:.{digits}f} ({low:.{digits}f}-{high:.{digits}f})"


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0.001 <= share <= 1:
        raise OptionError(f"--least: {text!r} is no share; give 0.001 to 1, such as 0.05 for 5 %")
    return share
