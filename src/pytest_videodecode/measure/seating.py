"""Workers that sit together: all get ready, all go at once; one that dies or hangs is lost, and named."""

from __future__ import annotations

import selectors
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_videodecode.errors import VideodecodeError
from pytest_videodecode.isolation.process import Worker
from pytest_videodecode.isolation.protocol import Go, SeatOrder
from pytest_videodecode.measurement import Seat

#: One worker is looked at so often, in turn. While seats get ready nothing is timed, and they are looked at more
#: often, for the peak of their threads.
_TICK_S = 0.02
_READY_TICK_S = 0.002

#: Looking takes no more than this share of one core's time: where a look is dear, looks are rarer.
_SHARE = 0.002
_LONGEST_TICK_S = 0.5

#: What a hung seat was doing is found out for this many, which takes a moment each; the rest are killed at once.
_AUTOPSIES = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class SeatLimits:
    """``sample_s`` is how long a seat may take for one sample, ``memory`` how many resident bytes it may have."""

    sample_s: float
    memory: int


class Row:
    """Seats of one decoder, one worker each, by the number of the seat."""

    def __init__(self, workers: Mapping[int, Worker], limits: SeatLimits) -> None:
        self._workers = workers
        self._limits = limits
        self._threads = dict.fromkeys(workers, 0)
        self._looking_s = 0.0  # CPU of this process

    def get_ready(self, orders: Mapping[int, SeatOrder]) -> dict[int, Seat]:
        """Give each worker its order and wait for all; a seat in the answer that is not ``lost`` is ready."""
        self._threads |= dict.fromkeys(orders, 0)
        return self._ask(orders, _READY_TICK_S, share=1.0)

    def go(self, order: Go, seats: Mapping[int, Seat]) -> dict[int, Seat]:
        """Have those of ``seats`` that are not lost decode at once; the answer holds the lost ones too."""
        self._looking_s = 0.0
        going = [number for number, seat in seats.items() if not seat.lost]
        done = self._ask(dict.fromkeys(going, order), _TICK_S, _SHARE)
        measured = {
            number: replace(
                seat,
                threads_peak=max(seat.threads_peak, self._threads[number]),
                measuring_s=seat.measuring_s + self._looking_s / len(going),
            )
            for number, seat in done.items()
            if not seat.lost
        }
        return {**seats, **done, **measured}

    def _ask(self, orders: Mapping[int, SeatOrder] | Mapping[int, Go], tick_s: float, share: float) -> dict[int, Seat]:
        answers: dict[int, Seat] = {}
        try:
            with selectors.DefaultSelector() as selector:
                for number, order in orders.items():
                    try:
                        self._workers[number].order(order)
                    except VideodecodeError as error:  # it could not be started
                        answers[number] = Seat(seat=number, lost=str(error))
                        continue
                    selector.register(self._workers[number], selectors.EVENT_READ, number)
                watch = _Watch([number for number in orders if number not in answers], time.monotonic())
                wait_s = tick_s
                while watch.turn:
                    for key, _ in selector.select(wait_s):
                        selector.unregister(key.fileobj)
                        watch.turn.remove(key.data)
                        answers[key.data] = replace(self._workers[key.data].seat(), seat=key.data)
                    begun = time.thread_time()
                    if watch.turn and (lost := self._look_at_next(watch)):
                        selector.unregister(self._workers[lost.seat])
                        watch.turn.remove(lost.seat)
                        answers[lost.seat] = lost
                    look_s = time.thread_time() - begun
                    self._looking_s += look_s
                    wait_s = min(max(tick_s, look_s / share), _LONGEST_TICK_S)
        except BaseException:  # Ctrl-C, or the limit of a test: no seat may go on decoding
            for number in orders:
                self._workers[number].kill()
            raise
        return {number: answers[number] for number in orders}

    def _look_at_next(self, watch: _Watch) -> Seat | None:
        """Look at one seat; a lost one where it has to be given up."""
        watch.turn.rotate(-1)
        number = watch.turn[-1]
        worker, limits = self._workers[number], self._limits
        look, now = worker.look(), time.monotonic()
        self._threads[number] = max(self._threads[number], look.threads)
        quiet_s = watch.quiet_s(number, look.progress, now)
        if look.memory > limits.memory:
            worker.kill()
            return Seat(seat=number, lost=f"took {look.memory >> 20} MiB of memory, more than {limits.memory >> 20}")
        if quiet_s < limits.sample_s:
            return None
        watch.hung += 1
        if watch.hung > _AUTOPSIES:
            worker.kill()
            return Seat(seat=number, lost=f"no sample within {limits.sample_s:g} s")
        return Seat(seat=number, lost=str(worker.hung(limits.sample_s)))


class _Watch:
    """Whose turn it is to be looked at, and when each seat last got on."""

    def __init__(self, seats: Sequence[int], now: float) -> None:
        self.turn = deque(seats)
        self.hung = 0
        self._seen = dict.fromkeys(seats, -1)
        self._since = dict.fromkeys(seats, now)

    def quiet_s(self, seat: int, progress: int, now: float) -> float:
        """Seconds since the seat was last seen to finish a sample."""
        if progress != self._seen[seat]:
            self._seen[seat], self._since[seat] = progress, now
        return now - self._since[seat]
