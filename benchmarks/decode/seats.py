"""Many processes that decode the same sample at the same time, and what they did together."""

from __future__ import annotations

import multiprocessing
import os
import statistics
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from benchmarks.decode import shared_ffmpeg
from benchmarks.decode.cells import Request
from benchmarks.decode.peer import Missing
from benchmarks.decode.processes import LIMIT_S, PeerProcess
from benchmarks.decode.serving import Run

#: From the word to the moment when all begin, in seconds; the word must have reached everyone by then.
_NOTICE_S = 0.3

_CENSUS_S = 0.1


@dataclass(frozen=True, slots=True)
class Together:
    """What the seats did in one round; ``switches`` are context switches of all threads, voluntary or not.

    ``threads`` is the largest number of OS threads seen at once, over all seats; 0 where they cannot be counted.
    ``digest`` is that of the pixels of one sample; None when two seats had different ones.
    """

    samples_per_s: float
    cpu_s_per_sample: float
    switches_per_sample: float
    threads: int
    digest: str | None


class Seats:
    """Processes, started once; a round takes as many of them as it needs. Close them, or use them as a context."""

    def __init__(self, count: int, folder: Path) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["benchmarks.decode.preload"])
        self._start = partial(PeerProcess, context, shared_ffmpeg.library_path(folder))
        self._processes = [self._start() for _ in range(count)]

    def round(self, count: int, name: str, threads: int, asked: Sequence[Request], seconds: float) -> Together:
        """``count`` seats with the peer ``name`` for ``seconds``; each has decoded one sample before, untimed.

        Raises:
            Missing: the peer cannot be had, or a seat died.
        """
        for number, process in enumerate(self._processes[:count]):
            if not process.alive:  # a peer of an earlier round has ended it
                self._processes[number] = self._start()
        seats = self._processes[:count]
        _all(seats, "open", name, threads, asked[:1])
        digests = set(_all(seats, "digest", asked[0]))
        begin = time.monotonic() + _NOTICE_S
        for number, seat in enumerate(seats):
            turn = number % len(asked)
            with suppress(Missing):
                seat.tell("run", [*asked[turn:], *asked[:turn]], begin, seconds)
        threads_seen = _census(seats, begin + seconds + LIMIT_S)
        runs: list[Run] = _answers(seats)
        _all(seats, "close")
        samples = sum(run.samples for run in runs)
        return Together(
            samples_per_s=sum(run.samples / run.wall_s for run in runs),
            cpu_s_per_sample=sum(run.cpu_s for run in runs) / samples,
            switches_per_sample=sum(run.switches for run in runs) / samples,
            threads=threads_seen,
            digest=digests.pop() if len(digests) == 1 else None,
        )

    def close(self) -> None:
        """End the processes."""
        while self._processes:
            self._processes.pop().close()

    def __enter__(self) -> Seats:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _all(seats: Sequence[PeerProcess], *message: object) -> list[Any]:
    for seat in seats:
        with suppress(Missing):  # a seat that died says so when it is asked for its answer
            seat.tell(*message)
    return _answers(seats)


def _answers(seats: Sequence[PeerProcess]) -> list[Any]:
    """The answers of all seats; every one is heard before the first fault is raised."""
    answers, faults = [], []
    for seat in seats:
        try:
            answers.append(seat.answer())
        except Missing as reason:
            faults.append(reason)
    if faults:
        raise faults[0]
    return answers


def _census(seats: Sequence[PeerProcess], until: float) -> int:
    """The most OS threads that were seen while the seats run."""
    most = 0
    running = {seat.connection: seat.pid for seat in seats}
    while running and time.monotonic() < until:
        most = max(most, sum(_threads(pid) for pid in running.values()))
        for answered in wait(list(running), timeout=_CENSUS_S):
            del running[answered]  # type: ignore[arg-type]
    return most


def _threads(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return 0


def median(rounds: Iterable[Together]) -> Together:
    """The median of each figure; the digest is kept if all rounds have the same."""
    every = list(rounds)
    digests = {each.digest for each in every}
    return Together(
        samples_per_s=statistics.median(each.samples_per_s for each in every),
        cpu_s_per_sample=statistics.median(each.cpu_s_per_sample for each in every),
        switches_per_sample=statistics.median(each.switches_per_sample for each in every),
        threads=max(each.threads for each in every),
        digest=digests.pop() if len(digests) == 1 else None,
    )
