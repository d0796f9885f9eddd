"""What the shell shows of a search: how far it is, what is new, and the table at its end."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from typing import TextIO

from pytest_videodecode.damage.base import counted
from pytest_videodecode.failures.store import FailureStore
from pytest_videodecode.fuzz.search import Seen, Tally

#: How often a line is written where there is no terminal, and redrawn where there is one, in seconds.
LINE_S = 10.0
_REDRAW_S = 0.2


class Progress:
    """New outcomes and failures go to ``out``; how far the search is goes to ``errors``, one line that is redrawn."""

    def __init__(self, store: FailureStore, out: TextIO | None = None, errors: TextIO | None = None) -> None:
        self._store = store
        self._out = out or sys.stdout
        self._errors = errors or sys.stderr
        self._drawn = False
        self._start = self._last = time.monotonic()
        self._examples = 0
        self._failures: set[str] = set()
        self._met: set[tuple[str, str]] = set()

    def tell(self, seen: Seen) -> None:
        """Take note of what was seen; of several processes, the first one with an outcome has it."""
        if seen.id in self._failures:
            return  # another process with the same database has tried it again too
        if seen.id:
            self._failures.add(seen.id)
            self._say(f"FAILED {seen.clip}: {seen.fault}\n  again: {shlex.join(self._store.replay(seen.id))}")
            return
        self._examples += 1
        if seen.outcome and (seen.clip, seen.outcome) not in self._met:
            self._met.add((seen.clip, seen.outcome))
            self._say(f"{seen.clip}: {seen.outcome} (first at example {seen.example})")
        now = time.monotonic()
        if now - self._last >= (_REDRAW_S if self._errors.isatty() else LINE_S):
            self._last = now
            self._draw(now)

    def end(self) -> None:
        """Leave the terminal as it was."""
        if self._drawn:
            self._errors.write("\r\x1b[K")
            self._errors.flush()
            self._drawn = False

    def _draw(self, now: float) -> None:
        took = now - self._start
        text = f"{counted(self._examples, 'example')} in {took:.0f} s, {counted(len(self._failures), 'failure')}"
        self._drawn = self._errors.isatty()
        self._errors.write(f"\r{text}\x1b[K" if self._drawn else f"{text}\n")
        self._errors.flush()

    def _say(self, text: str) -> None:
        self.end()
        print(text, file=self._out, flush=True)


def merged(tallies: Sequence[Tally]) -> list[Tally]:
    """One tally for each clip, in the order in which the clips first come."""
    whole: dict[str, Tally] = {}
    for tally in tallies:
        into = whole.setdefault(tally.clip, Tally(clip=tally.clip))
        into.examples += tally.examples
        for name, count in tally.classes.items():
            into.classes[name] = into.classes.get(name, 0) + count
        into.failed = tuple(sorted({*into.failed, *tally.failed}))
    return list(whole.values())


def table(tallies: Sequence[Tally]) -> Iterator[str]:
    """One row for each outcome class, most frequent first, one column for each clip; what failed is marked."""
    totals: dict[str, int] = {}
    for tally in tallies:
        for name, count in tally.classes.items():
            totals[name] = totals.get(name, 0) + count
    failed = {name for tally in tallies for name in tally.failed}
    rows = [["", *(tally.clip for tally in tallies)]]
    for name in sorted(totals, key=lambda name: (-totals[name], name)):
        label = f"{name} FAILED" if name in failed else name
        rows.append([label, *(str(tally.classes.get(name, "")) for tally in tallies)])
    rows.append(["examples", *(str(tally.examples) for tally in tallies)])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        first, *rest = row
        yield "  ".join([first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(rest, widths[1:], strict=True))])
