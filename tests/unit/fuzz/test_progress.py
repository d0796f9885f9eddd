from __future__ import annotations

import io
from pathlib import Path

import pytest

from pytest_videodecode.failures.store import FailureStore
from pytest_videodecode.fuzz.progress import Progress, merged, table
from pytest_videodecode.fuzz.search import Seen, Tally

STORE = FailureStore(Path("elsewhere"))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(f"{Progress.__module__}.time.monotonic", lambda: now[0])
    return now


def test_what_is_new_is_said_once_and_a_failure_with_its_replay() -> None:
    out = io.StringIO()
    shown = Progress(STORE, out, io.StringIO())
    shown.tell(Seen(clip="h264", example=12, outcome="error (InvalidDataError)"))
    shown.tell(Seen(clip="h264", example=3, outcome="error (InvalidDataError)"))  # of another process
    for _ in range(2):
        shown.tell(Seen(clip="h264", example=20, outcome="hang", fault="flip 1 byte: hang", id="abc"))
    assert out.getvalue().splitlines() == [
        "h264: error (InvalidDataError) (first at example 12)",
        "FAILED h264: flip 1 byte: hang",
        "  again: videodecode replay elsewhere/abc",
    ]


def test_without_a_terminal_there_is_a_line_every_10_seconds(clock: list[float]) -> None:
    errors = io.StringIO()
    shown = Progress(STORE, io.StringIO(), errors)
    for number in range(25):
        clock[0] = float(number)
        shown.tell(Seen(clip="av1", example=number))
    shown.end()
    assert errors.getvalue().splitlines() == [
        "11 examples in 10 s, 0 failures",
        "21 examples in 20 s, 0 failures",
    ]


def test_on_a_terminal_one_line_is_redrawn_and_gone_at_the_end(clock: list[float]) -> None:
    out, errors = io.StringIO(), Terminal()
    shown = Progress(STORE, out, errors)
    clock[0] = 1.0
    shown.tell(Seen(clip="av1", example=1))
    assert errors.getvalue() == "\r1 example in 1 s, 0 failures\x1b[K"
    shown.tell(Seen(clip="av1", example=2, outcome="frames"))
    assert errors.getvalue().endswith("\r\x1b[K")  # before a line for good is printed
    assert out.getvalue() == "av1: frames (first at example 2)\n"
    length = len(errors.getvalue())
    shown.end()
    assert len(errors.getvalue()) == length


def test_table_has_all_classes_of_all_clips_and_marks_what_failed() -> None:
    tallies = merged(
        [
            Tally(clip="av1", examples=5, classes={"frames": 4, "hang": 1}, failed=("hang",)),
            Tally(clip="h264", examples=7, classes={"error (ValueError)": 7}),
            Tally(clip="av1", examples=3, classes={"frames": 3}),
        ]
    )
    assert [tally.clip for tally in tallies] == ["av1", "h264"]
    assert list(table(tallies)) == [
        "                    av1  h264",
        "error (ValueError)          7",
        "frames                7      ",
        "hang FAILED           1      ",
        "examples              8     7",
    ]
