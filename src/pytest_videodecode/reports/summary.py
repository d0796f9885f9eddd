"""Verdicts as text: a matrix decoder × check, then what failed and how to see it again, then what was not checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pytest_videodecode.model import Status, Verdict

#: What the name of a streaming loader begins with, where decoders have theirs.
LOADER = "loader "

_SHORT = {Status.FAILED: "failed", Status.ERROR: "error", Status.UNSUPPORTED: "unsupported"}


def summary_lines(verdicts: Sequence[Verdict], seed: int, checks: Sequence[str] = ()) -> Iterator[str]:
    """The whole summary, one line after another; ``checks`` gives the order of the matrix's columns."""
    yield headline(verdicts, seed)
    yield from matrix(verdicts, checks)
    yield from failures(verdicts)
    yield from reasons(verdicts)


def headline(verdicts: Sequence[Verdict], seed: int) -> str:
    """Counts of everything, in one line."""
    counts = Counter(verdict.status for verdict in verdicts)
    known = sum(1 for verdict in verdicts if verdict.expected)
    parts = [f"{counts[status]} {status}" for status in Status if counts[status]]
    if known:
        parts.append(f"{known} of them as expected")
    in_all = "1 verdict" if len(verdicts) == 1 else f"{len(verdicts)} verdicts"
    return f"{in_all}: {', '.join(parts) or 'none'} (seed {seed})"


def matrix(verdicts: Sequence[Verdict], order: Sequence[str] = ()) -> Iterator[str]:
    """One row per decoder, one column per check: how many passed of how many that could be made.

    Columns stand as ``order`` has them, behind these the rest as they come. Streaming loaders, whose checks are
    others, stand in a table of their own below.
    """
    loaders = [verdict for verdict in verdicts if verdict.decoder.startswith(LOADER)]
    yield from _table([verdict for verdict in verdicts if not verdict.decoder.startswith(LOADER)], order)
    yield from _table(loaders, order)


def _table(verdicts: Sequence[Verdict], order: Sequence[str]) -> Iterator[str]:
    if not verdicts:
        return
    decoders = list(dict.fromkeys(verdict.decoder for verdict in verdicts))
    made = dict.fromkeys(verdict.check for verdict in verdicts)
    checks = [*(check for check in order if check in made), *(check for check in made if check not in order)]
    rows = [["", *checks]]
    for decoder in decoders:
        own = [v for v in verdicts if v.decoder == decoder]
        rows.append([decoder, *(_cell([v for v in own if v.check == check]) for check in checks)])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        name, *cells = row
        yield "  ".join([name.ljust(widths[0]), *(c.rjust(w) for c, w in zip(cells, widths[1:], strict=True))])


def _cell(verdicts: Sequence[Verdict]) -> str:
    if not verdicts:
        return ""
    made = [verdict for verdict in verdicts if verdict.status is not Status.UNSUPPORTED]
    if not made:
        return "unsupported"
    good = sum(1 for verdict in made if is_good(verdict))
    return f"{good}/{len(made)}" + ("" if good == len(made) else " FAILED")


def is_good(verdict: Verdict) -> bool:
    """Passed, or not passed in just the way that was expected."""
    return verdict.status is Status.PASSED or bool(verdict.expected)


def failures(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """What did not hold, each with the command that shows it again."""
    for verdict in verdicts:
        if verdict.status in (Status.FAILED, Status.ERROR) and not verdict.expected:
            yield ""
            yield from describe(verdict)


def describe(verdict: Verdict) -> Iterator[str]:
    """One verdict in a few lines."""
    name = f"{verdict.check} of {verdict.decoder}" + (f" on {verdict.clip}" if verdict.clip else "")
    yield f"{_SHORT.get(verdict.status, verdict.status).upper()} {name}: {verdict.reason}"
    if verdict.replay:
        yield f"  again: {verdict.replay}"


def reasons(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """What could not be checked, and what was expected, grouped by reason: a skip is a number, not a silence."""
    groups: dict[str, list[str]] = {}
    for verdict in verdicts:
        if verdict.expected:
            groups.setdefault(f"as expected: {verdict.expected}", []).append(f"{verdict.check} on {verdict.clip}")
        elif verdict.status is Status.UNSUPPORTED:
            line = f"unsupported: {verdict.check} of {verdict.decoder}: {verdict.reason}"
            groups.setdefault(line, []).append(verdict.clip)
    if groups:
        yield ""
    for line, where in groups.items():
        shown = ", ".join(where[:4]) + (f" and {len(where) - 4} more" if len(where) > 4 else "")
        yield f"{len(where)} x {line} ({shown})"
