from __future__ import annotations

import os
import subprocess
import sys
import threading

from pytest_videodecode.isolation.census import (
    ThreadCounter,
    is_running,
    private_memory,
    snapshot,
    thread_names,
    threads_and_memory,
)


def test_threads_are_counted_at_their_peak() -> None:
    counter = ThreadCounter(os.getpid())
    counter.sample()
    base = counter.peak
    release = threading.Event()
    threads = [threading.Thread(target=release.wait) for _ in range(5)]
    for thread in threads:
        thread.start()
    counter.sample()
    release.set()
    for thread in threads:
        thread.join()
    counter.sample()
    assert counter.peak >= base + 5
    assert counter.samples == 3


def test_trailing_numbers_of_thread_names_are_cut() -> None:
    names = thread_names(os.getpid())
    assert names
    assert not any(name[-1:].isdigit() for name in names)


def test_snapshot_sees_an_open_file() -> None:
    before = snapshot()
    with open(os.devnull, "rb"):
        assert snapshot().fds == before.fds + 1
    assert snapshot().fds == before.fds


def test_private_memory_grows_with_what_is_held() -> None:
    before = private_memory(os.getpid())
    held = os.urandom(64 << 20)
    assert private_memory(os.getpid()) - before > 48 << 20
    assert len(held) == 64 << 20


def test_process_that_is_gone_counts_nothing() -> None:
    gone = 2**22 + 1  # above the highest process id that Linux gives
    assert private_memory(gone) == 0
    assert thread_names(gone) == {}
    assert is_running(gone) is False


def test_threads_and_memory_are_those_of_the_process() -> None:
    release = threading.Event()
    threads = [threading.Thread(target=release.wait) for _ in range(5)]
    before, _ = threads_and_memory(os.getpid())
    for thread in threads:
        thread.start()
    during, memory = threads_and_memory(os.getpid())
    release.set()
    for thread in threads:
        thread.join()
    assert during == before + 5
    assert memory > 1 << 20


def test_process_that_is_gone_has_nothing() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    assert threads_and_memory(process.pid) == (0, 0)
