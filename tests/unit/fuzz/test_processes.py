from __future__ import annotations

import io
from collections.abc import Callable

import psutil
import pytest

from pytest_videodecode.errors import WorkerError
from pytest_videodecode.fuzz import processes
from pytest_videodecode.fuzz.processes import Event, run_many, write_event
from pytest_videodecode.fuzz.search import Seen, Tally
from pytest_videodecode.jsonform import loads


def test_events_come_back_as_they_were() -> None:
    for event in (
        Event(seen=Seen(clip="av1", example=1, outcome="hang", fault="a «fault»\nin two lines", id="abc")),
        Event(tally=Tally(clip="av1", examples=2, classes={"hang": 2}, failed=("hang",))),
    ):
        stream = io.StringIO()
        write_event(event, stream)
        (line,) = stream.getvalue().splitlines()
        assert loads(Event, line) == event


def child(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    monkeypatch.setattr(processes, "_PROGRAM", program)


def test_all_processes_are_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    child(
        monkeypatch,
        "import sys; name = sys.argv[-1]\n"
        'print(\'{"seen": {"clip": "%s", "example": 1}}\' % name)\n'
        'print(\'{"tally": {"clip": "%s", "examples": 1}}\' % name)',
    )
    seen: list[Seen] = []
    tallies = run_many([["one"], ["two"], ["three"]], seen.append)
    assert {each.clip for each in seen} == {tally.clip for tally in tallies} == {"one", "two", "three"}


def test_process_that_fails_ends_the_others(
    monkeypatch: pytest.MonkeyPatch, new_children: Callable[[], list[psutil.Process]]
) -> None:
    child(monkeypatch, "import sys, time; sys.exit(2) if sys.argv[-1] == 'bad' else time.sleep(600)")
    with pytest.raises(WorkerError, match="a process of the search ended with status 2; see its message above"):
        run_many([["bad"], ["good"]], lambda seen: None)
    assert new_children() == []


def test_interrupt_ends_all(monkeypatch: pytest.MonkeyPatch, new_children: Callable[[], list[psutil.Process]]) -> None:
    child(monkeypatch, 'import time; print(\'{"seen": {"clip": "a", "example": 1}}\', flush=True); time.sleep(600)')

    def interrupt(seen: Seen) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_many([["one"], ["two"]], interrupt)
    assert new_children() == []
