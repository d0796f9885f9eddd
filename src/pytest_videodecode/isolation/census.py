"""Counting what a process has, from ``/proc``: OS threads by name, file descriptors, memory, CPU time.

Linux only; elsewhere psutil gives what it can and the rest is 0. Used by both sides, so psutil is imported late:
a worker's interpreter need not have it.
"""

from __future__ import annotations

import os
import resource
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

HAS_PROC = Path("/proc/self/task").is_dir()
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The calling process at one moment; memory in bytes, times in seconds."""

    wall_s: float
    cpu_s: float
    threads: int
    fds: int
    rss: int
    voluntary_switches: int
    involuntary_switches: int


def snapshot() -> Snapshot:
    """Counts of the calling process; CPU time includes children that were waited for (a decoder's command)."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return Snapshot(
        wall_s=time.perf_counter(),
        cpu_s=own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime,
        threads=len(os.listdir("/proc/self/task")) if HAS_PROC else 0,
        fds=len(os.listdir("/proc/self/fd")) if HAS_PROC else 0,
        rss=private_memory(os.getpid()),
        voluntary_switches=own.ru_nvcsw,
        involuntary_switches=own.ru_nivcsw,
    )


def private_memory(pid: int) -> int:
    """Resident bytes that are the process's own: shared pages (the pixels of replies) are left out."""
    if not HAS_PROC:
        import psutil

        return int(psutil.Process(pid).memory_info().rss)
    try:
        with open(f"/proc/{pid}/statm", "rb", buffering=0) as statm:
            _, resident, shared, *_ = statm.read().split()
    except (FileNotFoundError, ProcessLookupError, ValueError):
        return 0
    return (int(resident) - int(shared)) * _PAGE


def threads_and_memory(pid: int) -> tuple[int, int]:
    """OS threads and resident bytes of ``pid``, both 0 when it is gone; one short read, for looking often."""
    if not HAS_PROC:
        import psutil

        process = psutil.Process(pid)
        return process.num_threads(), int(process.memory_info().rss)
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as stat:
            fields = stat.read().rpartition(b")")[2].split()
        return int(fields[17]), int(fields[21]) * _PAGE
    except (FileNotFoundError, ProcessLookupError, IndexError):
        return 0, 0


def is_running(pid: int) -> bool:
    """Whether any thread of ``pid`` is on a core or waits for one, at this moment."""
    if not HAS_PROC:
        import psutil

        return bool(psutil.Process(pid).status() == psutil.STATUS_RUNNING)
    for stat in Path(f"/proc/{pid}/task").glob("*/stat"):
        try:
            state = stat.read_bytes().rpartition(b")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if state == b"R":
            return True
    return False


class ThreadCounter:
    """Samples the OS threads of a process and keeps the most seen at one time, in all and by name.

    Trailing digits of a name are cut: ``av:h264:df3`` counts as ``av:h264:df``.
    """

    def __init__(self, pid: int) -> None:
        self._folder = f"/proc/{pid}/task"
        self._names: dict[str, str] = {}
        self._process_name = self._name(str(pid))
        self.peak = 0
        self.peak_by_name: dict[str, int] = {}
        self.samples = 0

    def sample(self) -> None:
        """Look once."""
        try:
            tids = os.listdir(self._folder)
        except (FileNotFoundError, ProcessLookupError):
            return
        # a thread is named just after it starts, so the name of its parent is read again the next time
        names = {tid: known if (known := self._names.get(tid)) else self._name(tid) for tid in tids}
        self._names = {tid: name for tid, name in names.items() if name != self._process_name}
        self.samples += 1
        self.peak = max(self.peak, len(tids))
        for name, count in Counter(filter(None, names.values())).items():
            self.peak_by_name[name] = max(count, self.peak_by_name.get(name, 0))

    def _name(self, tid: str) -> str:
        try:
            name = Path(self._folder, tid, "comm").read_text(encoding="utf-8", errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            return ""
        return name.rstrip("\n").rstrip("0123456789")


def thread_names(pid: int) -> dict[str, int]:
    """OS threads of ``pid`` right now, by name."""
    counter = ThreadCounter(pid)
    counter.sample()
    return counter.peak_by_name
