"""Peers in turn on the same requests: wall and CPU time of each, and whether they return the same pixels."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.decode.cells import Cell, Request
from benchmarks.decode.peer import Frames, Missing
from benchmarks.decode.processes import PeerProcess, start
from benchmarks.decode.serving import Opened

#: Rounds that are not timed; the pixels of all peers are compared in them.
UNTIMED = 3

#: The least number of timed rounds, however long they take.
_LEAST = 5


@dataclass(frozen=True, slots=True)
class Difference:
    """How a peer's pixels differ from those of the first peer that answered."""

    frames: int
    largest: int
    share: float

    def __str__(self) -> str:
        return f"{self.frames} frames differ, {self.share:.2%} of their values, by up to {self.largest}"


@dataclass(slots=True)
class Timing:
    """What one peer took for each timed request of a cell, in seconds; ``missing`` says why it took nothing."""

    wall_s: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)
    note: str = ""
    libraries: tuple[str, ...] = ()
    difference: Difference | None = None
    missing: str = ""

    @property
    def wall(self) -> float:
        """Median seconds per request."""
        return statistics.median(self.wall_s)

    @property
    def cpu(self) -> float:
        """Median CPU seconds per request, of all threads."""
        return statistics.median(self.cpu_s)


def ratio(over: Sequence[float], under: Sequence[float]) -> float:
    """Median of the paired ratios: how many times longer ``over`` took."""
    return statistics.median(a / b for a, b in zip(over, under, strict=True))


class Peers:
    """The processes of the peers, kept from cell to cell. Close it, or use it as a context."""

    def __init__(self, names: Sequence[str], folder: Path) -> None:
        self._names = names
        self._folder = folder  # for what the processes need beside the clips
        self._processes: dict[str, PeerProcess] = {}

    def open(self, threads: int, trial: Sequence[Request]) -> tuple[dict[str, PeerProcess], dict[str, Timing]]:
        """All that can be opened for a cell, and what is to be said of all of them."""
        opened, timings = {}, {}
        for name in self._names:
            timings[name] = timing = Timing()
            try:
                said = self._opened(name, threads, trial)
                timing.note, timing.libraries = said.note, said.libraries
                opened[name] = self._processes[name]
            except Missing as reason:
                timing.missing = str(reason)
        return opened, timings

    def _opened(self, name: str, threads: int, trial: Sequence[Request]) -> Opened:
        if name in self._processes:
            try:
                return self._processes[name].open(name, threads, trial)
            except Missing:
                self._processes.pop(name).close()
                raise
        self._processes[name], said = start(name, threads, trial, self._folder)
        return said

    def close(self) -> None:
        """End the processes."""
        while self._processes:
            self._processes.popitem()[1].close()

    def __enter__(self) -> Peers:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def measure(cell: Cell, peers: Peers, asked: Sequence[Request], seconds: float) -> dict[str, Timing]:
    """All peers on the requests ``asked``, one round each, the order turned by one from round to round.

    The first ``UNTIMED`` requests are not timed. No round starts once ``seconds`` have passed, but for the first few.
    """
    processes, timings = peers.open(cell.threads, asked[:UNTIMED])
    _compare(processes, asked[:UNTIMED], timings)
    until = time.perf_counter() + seconds
    for number, request in enumerate(asked[UNTIMED:]):
        if number >= _LEAST and time.perf_counter() > until:
            break
        order = list(processes)
        turn = number % max(len(order), 1)
        for name in order[turn:] + order[:turn]:
            timing = timings[name]
            with _dropped_if_missing(name, processes, timings):
                wall, cpu = processes[name].timed(request)
                timing.wall_s.append(wall)
                timing.cpu_s.append(cpu)
    for name in list(processes):
        with _dropped_if_missing(name, processes, timings):
            processes[name].ask("close")
    return timings


def _compare(processes: dict[str, PeerProcess], asked: Sequence[Request], timings: Mapping[str, Timing]) -> None:
    for request in asked:
        first: list[Frames] | None = None
        for name in list(processes):
            with _dropped_if_missing(name, processes, timings):
                frames = processes[name].frames(request)
                first = first or frames
                timings[name].difference = _larger(timings[name].difference, differ(first, frames))


@contextmanager
def _dropped_if_missing(name: str, processes: dict[str, PeerProcess], timings: Mapping[str, Timing]) -> Iterator[None]:
    try:
        yield
    except Missing as reason:
        del processes[name]
        timings[name].missing = str(reason)


def differ(ours: Sequence[Frames], theirs: Sequence[Frames]) -> Difference | None:
    """How two answers differ; None where they are the same bit by bit."""
    frames, largest, values, total = 0, 0, 0, 0
    for one, other in zip(ours, theirs, strict=True):
        if one.shape != other.shape:
            return Difference(len(one), 255, 1.0)
        for a, b in zip(one, other, strict=True):
            if not np.array_equal(a, b):
                apart = np.abs(a.astype(np.int16) - b)
                frames, largest = frames + 1, max(largest, int(apart.max()))
                values, total = values + int(np.count_nonzero(apart)), total + apart.size
    return Difference(frames, largest, values / total) if frames else None


def _larger(one: Difference | None, other: Difference | None) -> Difference | None:
    return max((d for d in (one, other) if d), key=lambda d: (d.largest, d.share), default=None)
