"""Decoders that misbehave, each in one way; all in the plain shape ``(path, indices)``."""

from __future__ import annotations

import atexit
import ctypes
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

#: Where the grandchildren of a test write their process ids.
PIDS_ENV = "ROGUE_PIDS"


def well_behaved(path: str, indices: Sequence[int]) -> Any:
    """Black pictures, as many as asked."""
    return np.zeros((len(indices), 4, 6, 3), np.uint8)


def _lock_twice(library: ctypes.CDLL) -> None:
    mutex = ctypes.create_string_buffer(64)  # zeros are a valid unlocked mutex
    library.pthread_mutex_lock(mutex)
    library.pthread_mutex_lock(mutex)


def hangs_with_the_gil(path: str, indices: Sequence[int]) -> None:
    """A deadlock in native code; PyDLL keeps the GIL over the call."""
    _lock_twice(ctypes.PyDLL(None))


def hangs_without_the_gil(path: str, indices: Sequence[int]) -> None:
    """A deadlock in native code; CDLL releases the GIL over the call."""
    _lock_twice(ctypes.CDLL(None))


def waits_for_ever(path: str, indices: Sequence[int]) -> None:
    """Python code that waits."""
    threading.Event().wait()


def spins(path: str, indices: Sequence[int]) -> None:
    """A loop that ends never and burns a core."""
    while True:
        pass


def crashes(path: str, indices: Sequence[int]) -> None:
    """A segmentation fault."""
    os.kill(os.getpid(), signal.SIGSEGV)


def exits(path: str, indices: Sequence[int]) -> None:
    """The process ends without a word."""
    os._exit(3)


def blows_up(path: str, indices: Sequence[int]) -> None:
    """Takes memory until it is stopped."""
    kept = []
    while True:
        kept.append(bytearray(os.urandom(1 << 20)) * 8)


def raises_memory_error(path: str, indices: Sequence[int]) -> None:
    """As PyAV does on some damaged files."""
    raise MemoryError("cannot allocate a frame of 4294967295 rows")


def leaves_grandchildren(path: str, indices: Sequence[int]) -> None:
    """One child in the worker's group, one in a session of its own, one given to init; then a hang."""
    sleep = "import time; time.sleep(600)"
    children = [
        subprocess.Popen([sys.executable, "-c", sleep]),
        subprocess.Popen([sys.executable, "-c", sleep], start_new_session=True),
    ]
    orphan = subprocess.run(
        [
            sys.executable,
            "-c",
            "import subprocess, sys; "
            f"print(subprocess.Popen([sys.executable, '-c', {sleep!r}], start_new_session=True, "
            "stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid)",
        ],
        capture_output=True,
        check=True,
    )
    pids = [*(child.pid for child in children), int(orphan.stdout)]
    with open(os.environ[PIDS_ENV], "w", encoding="utf-8") as file:
        file.write(" ".join(map(str, pids)))
    threading.Event().wait()


def answers_garbage(path: str, indices: Sequence[int]) -> Any:
    """Writes into every pipe it finds, the worker's own among them."""
    for fd in range(3, 256):
        try:
            if stat.S_ISFIFO(os.fstat(fd).st_mode):
                os.write(fd, b"\xff" * 64)
        except OSError:
            continue
    return well_behaved(path, indices)


def talks(path: str, indices: Sequence[int]) -> Any:
    """Prints to stdout and stderr, where a worker must not have its protocol."""
    print("chatter on stdout")
    os.write(2, b"chatter on stderr\n")
    return well_behaved(path, indices)


def hangs_at_exit(path: str, indices: Sequence[int]) -> Any:
    """Decodes, and then the process never ends."""
    atexit.register(hangs_with_the_gil, path, indices)
    return well_behaved(path, indices)


def too_few(path: str, indices: Sequence[int]) -> Any:
    """One picture less than asked."""
    return well_behaved(path, indices[1:])


def nothing(path: str, indices: Sequence[int]) -> None:
    """Returns None."""


def generator(path: str, indices: Sequence[int]) -> Iterator[Any]:
    """Returns a generator instead of pictures."""
    yield from well_behaved(path, indices)


def wrong_dtype(path: str, indices: Sequence[int]) -> Any:
    """Returns int64 pictures."""
    return well_behaved(path, indices).astype(np.int64)


def process_id(path: str, indices: Sequence[int]) -> Any:
    """A picture that carries the id of the worker's process in its first bytes."""
    picture = well_behaved(path, [0])
    picture[0, 0, :2].reshape(-1)[:4] = np.frombuffer(os.getpid().to_bytes(4, "little"), np.uint8)
    return picture


_KEPT: list[Any] = []


class _HangsWhenFreed:
    def __del__(self) -> None:
        _lock_twice(ctypes.PyDLL(None))


def hangs_when_freed_at_exit(path: str, indices: Sequence[int]) -> Any:
    """Keeps an object whose destructor deadlocks, as a codec context with frame threads may."""
    _KEPT.append(_HangsWhenFreed())
    return well_behaved(path, indices)


def crashes_at_exit(path: str, indices: Sequence[int]) -> Any:
    """A segmentation fault when the process ends."""
    atexit.register(crashes, path, indices)
    return well_behaved(path, indices)
