from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from pytest_videodecode.decoders.spec import parse
from pytest_videodecode.isolation.process import Limits, Worker
from pytest_videodecode.isolation.protocol import Go, Sample, SeatOrder
from pytest_videodecode.measure.seating import Row, SeatLimits
from pytest_videodecode.measurement import Seat
from pytest_videodecode.model import DecodeRequest

LIMITS = SeatLimits(sample_s=1.0, memory=4 << 30)
ONE = Go(seconds=60, most=1)
SAMPLE = Sample(name="any", requests=(DecodeRequest(path="any.mp4", indices=(0,)),))

RowOf = Callable[..., tuple[Row, dict[int, Worker]]]


@pytest.fixture
def row_of(tmp_path: Path) -> Iterator[RowOf]:
    """Seats 0, 1, … with a decoder of ``rogue`` each."""
    with ExitStack() as stack:

        def make(*functions: str, limits: SeatLimits = LIMITS) -> tuple[Row, dict[int, Worker]]:
            workers = {}
            for number, function in enumerate(functions):
                workers[number] = Worker(parse(f"rogue:{function}"), Limits(exit_s=0.5), tmp_path)
                stack.callback(workers[number].close)
                stack.callback(workers[number].kill)
            return Row(workers, limits), workers

        yield make


def orders(count: int, *, rehearse: bool = True) -> dict[int, SeatOrder]:
    return {number: SeatOrder(seat=number, samples=(SAMPLE,), rehearse=rehearse) for number in range(count)}


def ready(count: int) -> dict[int, Seat]:
    return {number: Seat(seat=number) for number in range(count)}


def test_all_get_ready_and_go(row_of: RowOf) -> None:
    row, workers = row_of("well_behaved", "process_id")
    seats = row.get_ready(orders(2))
    assert [(seat.seat, seat.lost) for seat in seats.values()] == [(0, ""), (1, "")]
    done = row.go(Go(seconds=60, most=3), seats)
    assert {number: (seat.seat, seat.samples) for number, seat in done.items()} == {0: (0, 3), 1: (1, 3)}
    assert done[0].threads_peak >= 2, "its main thread and its heartbeat"
    assert done[0].measuring_s > 0
    assert workers[0].alive


def test_dead_and_hanging_seats_are_named_and_the_others_reported(row_of: RowOf) -> None:
    row, workers = row_of("well_behaved", "crashes", "hangs_with_the_gil", "exits", "waits_for_ever", "talks")
    row.get_ready(orders(6, rehearse=False))
    done = row.go(ONE, ready(6))
    lost = {number: seat.lost for number, seat in done.items() if seat.lost}
    assert sorted(lost) == [1, 2, 3, 4]
    assert lost[1] == "crash (SIGSEGV)"
    assert lost[2].startswith("hang")
    assert "after 1 s, GIL held" in lost[2]
    assert lost[3] == "crash (exit status 3)"
    assert lost[4].startswith("hang")
    assert "GIL released" in lost[4]
    assert done[0].samples == done[5].samples == 1
    assert {number for number, worker in workers.items() if worker.alive} == {0, 5}


def test_seat_that_does_not_get_ready_is_lost_and_not_sent_off(row_of: RowOf) -> None:
    row, _ = row_of("well_behaved", "waits_for_ever")
    seats = row.get_ready(orders(2))
    assert (seats[0].lost, seats[1].lost[:4]) == ("", "hang")
    done = row.go(ONE, seats)
    assert (done[0].samples, done[1].lost) == (1, seats[1].lost)


def test_many_hanging_seats_are_not_all_looked_into(row_of: RowOf) -> None:
    row, workers = row_of(*["waits_for_ever"] * 4)
    seats = row.get_ready(orders(4))
    assert [seat.lost for seat in seats.values() if not seat.lost.startswith("hang")] == ["no sample within 1 s"] * 2
    assert not any(worker.alive for worker in workers.values())


def test_seat_that_takes_too_much_memory_is_ended(row_of: RowOf) -> None:
    row, _ = row_of("blows_up", "well_behaved", limits=SeatLimits(sample_s=60, memory=200 << 20))
    seats = row.get_ready(orders(2))
    assert "MiB of memory, more than 200" in seats[0].lost
    assert not seats[1].lost


def test_decoder_that_cannot_be_loaded_is_lost_with_its_reason(row_of: RowOf) -> None:
    row, _ = row_of("no_such_function", "well_behaved")
    seats = row.get_ready(orders(2))
    assert "no_such_function" in seats[0].lost
    assert not seats[1].lost


def test_garbage_from_a_worker_costs_one_seat(row_of: RowOf) -> None:
    row, _ = row_of("answers_garbage", "well_behaved")
    seats = row.get_ready(orders(2))
    assert "garbage" in seats[0].lost
    assert not seats[1].lost


def test_interrupt_leaves_no_seat_decoding(row_of: RowOf, monkeypatch: pytest.MonkeyPatch) -> None:
    row, workers = row_of("spins", "spins")

    def interrupted(_: Worker) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Worker, "look", interrupted)
    with pytest.raises(KeyboardInterrupt):
        row.get_ready(orders(2))
    assert not any(worker.alive for worker in workers.values())
