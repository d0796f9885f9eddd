"""The worker's signs of life: a beat while it can get the GIL, and how many samples its seat has decoded.

Both are counters on the first page of the shared file, where the parent reads them without asking.
"""

from __future__ import annotations

import mmap
import resource
import threading
from dataclasses import dataclass

from pytest_videodecode.isolation import protocol

#: A seat that is being timed beats so often: its own switches and CPU are what is measured there.
SEATED_S = 0.25


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds and context switches."""

    cpu_s: float = 0.0
    voluntary: int = 0
    involuntary: int = 0

    @classmethod
    def of(cls, who: int) -> Cost:
        """What ``who`` has used so far, as ``resource.getrusage`` takes it."""
        used = resource.getrusage(who)
        return cls(used.ru_utime + used.ru_stime, used.ru_nvcsw, used.ru_nivcsw)

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.cpu_s + other.cpu_s, self.voluntary + other.voluntary, self.involuntary + other.involuntary)

    def __sub__(self, other: Cost) -> Cost:
        return self + Cost(-other.cpu_s, -other.voluntary, -other.involuntary)


class Heartbeat:
    """A daemon thread that beats every ``period_s`` seconds, or rests while that is None."""

    def __init__(self, pixels_fd: int) -> None:
        self._header = mmap.mmap(pixels_fd, protocol.HEADER)
        self._period_s: float | None = protocol.HEARTBEAT_S
        self._changed = threading.Event()
        self.cost = Cost()  # of the beating itself, up to the last beat
        threading.Thread(target=self._beat, daemon=True).start()

    def set_period(self, period_s: float | None) -> None:
        """Beat so often from now on, the first time at once where that is a change."""
        if period_s != self._period_s:
            self._period_s = period_s
            self._changed.set()

    def sample_done(self, count: int) -> None:
        """Tell the parent that ``count`` samples of this seat are done."""
        protocol.COUNTER.pack_into(self._header, protocol.PROGRESS_AT, count)

    def _beat(self) -> None:
        beats = 0
        while True:
            beats += 1
            protocol.COUNTER.pack_into(self._header, protocol.HEARTBEAT_AT, beats)
            self.cost = Cost.of(resource.RUSAGE_THREAD) if hasattr(resource, "RUSAGE_THREAD") else Cost()
            if self._changed.wait(self._period_s):
                self._changed.clear()
