"""A worker between requests and seats; what a seat does by itself is in test_seat.py."""

from __future__ import annotations

import select
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from pytest_videodecode.decoders.spec import parse
from pytest_videodecode.isolation.process import Limits, Worker
from pytest_videodecode.isolation.protocol import Go, Sample, SeatOrder
from pytest_videodecode.measurement import Seat
from pytest_videodecode.model import DecodeRequest, OutcomeKind

REQUEST = DecodeRequest(path="any.mp4", indices=(0,))
ORDER = SeatOrder(seat=3, samples=(Sample(name="any", requests=(REQUEST,)),), rehearse=False)

Start = Callable[[str], Worker]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    with ExitStack() as stack:

        def start(function: str) -> Worker:
            worker = Worker(parse(f"rogue:{function}"), Limits(decode_s=0.5, exit_s=5), tmp_path / "journal")
            stack.callback(worker.close)
            return worker

        yield start


def ask(worker: Worker, message: SeatOrder | Go) -> Seat:
    worker.order(message)
    assert select.select([worker], [], [], 30) == ([worker], [], [])
    return worker.seat()


def test_seats_and_requests_take_turns(start: Start) -> None:
    worker = start("well_behaved")
    assert worker.decode(REQUEST).kind is OutcomeKind.FRAMES
    assert ask(worker, ORDER).lost == ""
    assert ask(worker, Go(seconds=60, most=2)).samples == 2
    assert worker.decode(REQUEST).kind is OutcomeKind.FRAMES
    assert ask(worker, Go(seconds=60, most=3)).samples == 3
    assert worker.look().progress == 5


@pytest.mark.parametrize(("function", "gil_held"), [("hangs_with_the_gil", True), ("hangs_without_the_gil", False)])
def test_heart_that_rested_beats_again_for_a_request(start: Start, function: str, gil_held: bool) -> None:
    worker = start(function)
    ask(worker, ORDER)
    hang = worker.decode(REQUEST).hang
    assert hang is not None
    assert hang.gil_held is gil_held


def test_worker_of_a_seat_ends_by_itself(tmp_path: Path) -> None:
    worker = Worker(parse("rogue:well_behaved"), Limits(exit_s=30), tmp_path / "journal")
    ask(worker, ORDER)
    assert worker.close() is None
    assert not worker.alive


def test_go_without_a_seat_is_a_crash_not_a_hang(start: Start) -> None:
    seat = ask(start("well_behaved"), Go(seconds=1))
    assert seat.lost == "crash (exit status 1)"


def test_look_sees_a_worker_that_is_gone(start: Start) -> None:
    worker = start("well_behaved")
    worker.info()
    worker.kill()
    assert (worker.look().threads, worker.look().memory) == (0, 0)
