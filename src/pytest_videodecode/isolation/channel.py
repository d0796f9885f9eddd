"""The parent's ends of everything it shares with one worker: two pipes, the pixels, the stacks, the log."""

from __future__ import annotations

import json
import mmap
import os
import select
import tempfile
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_videodecode.errors import WorkerError
from pytest_videodecode.isolation import protocol

_LOG_TAIL = 4000
_LOG_MAX = 1 << 20
_STACKS_MAX = 1 << 16
#: A larger reply gives its memory back at once.
_KEEP_PIXELS = 64 << 20


class Channel:
    """Opened before the worker is started; ``theirs`` goes to the worker, the rest stays here."""

    def __init__(self) -> None:
        request_read, self._requests = os.pipe()
        self._replies, reply_write = os.pipe()
        self._pixels_fd = _anonymous_file("videodecode-pixels")
        self._stacks_fd = _anonymous_file("videodecode-stacks")
        self.log_fd = _anonymous_file("videodecode-log", os.O_APPEND)
        os.ftruncate(self._pixels_fd, protocol.HEADER)
        self._header = mmap.mmap(self._pixels_fd, protocol.HEADER)
        self._pixels: mmap.mmap | None = None
        self.theirs = (request_read, reply_write, self._pixels_fd, self._stacks_fd)
        self._pipe_ends = [request_read, reply_write]
        self._poll = select.poll()
        self._poll.register(self._replies, select.POLLIN)

    def hand_over(self) -> None:
        """Close the worker's ends here, so that its death is seen as end of file."""
        while self._pipe_ends:
            os.close(self._pipe_ends.pop())

    def send(self, message: Any) -> None:
        """One message of builtin types; a worker that is gone is a ``BrokenPipeError``."""
        protocol.write_message(self._requests, json.dumps(message).encode())

    def ready(self, timeout_s: float) -> bool:
        """Whether a message, or the worker's end, came within the time."""
        return bool(self._poll.poll(max(0.0, timeout_s) * 1000))

    def receive(self) -> Any:
        """The next message; None when the worker is gone."""
        return protocol.read_message(self._replies)

    def hang_up(self) -> None:
        """Tell the worker that no more requests come."""
        if self._requests >= 0:
            os.close(self._requests)
            self._requests = -1

    def take(self, shape: tuple[int, ...]) -> NDArray[np.uint8]:
        """A copy of the pixels of the last reply, uint8 (N,H,W,3).

        Raises:
            WorkerError: for a shape that the shared file does not hold.
        """
        size = int(np.prod(shape, dtype=object))
        have = os.fstat(self._pixels_fd).st_size
        if len(shape) != 4 or min(shape) < 1 or protocol.HEADER + size > have:
            raise WorkerError(f"pixels of shape {shape} are not in the shared file of {have} bytes")
        if self._pixels is None or len(self._pixels) < protocol.HEADER + size:
            self._pixels = mmap.mmap(self._pixels_fd, have)
        frames = np.frombuffer(self._pixels, np.uint8, size, protocol.HEADER).reshape(shape).copy()
        if have > _KEEP_PIXELS:
            self._pixels = None
            os.ftruncate(self._pixels_fd, protocol.HEADER)
        return frames

    def beats(self) -> int:
        """How often the worker's heartbeat thread has had the GIL."""
        return self._counter(protocol.HEARTBEAT_AT)

    def progress(self) -> int:
        """How many samples the worker's seat has decoded."""
        return self._counter(protocol.PROGRESS_AT)

    def _counter(self, place: int) -> int:
        (count,) = protocol.COUNTER.unpack_from(self._header, place)
        return int(count)

    def fileno(self) -> int:
        """What becomes readable when a message, or the worker's end, has come."""
        return self._replies

    def stacks(self, timeout_s: float) -> str:
        """The Python stacks of all threads, once faulthandler has written them; empty if it does not."""
        deadline = time.monotonic() + timeout_s
        written = -1
        while time.monotonic() < deadline and (size := os.fstat(self._stacks_fd).st_size) != written:
            written = size or -1
            time.sleep(timeout_s / 10)
        return os.pread(self._stacks_fd, _STACKS_MAX, 0).decode(errors="replace")

    def trim_log(self) -> None:
        """Keep a worker that talks a lot from filling the memory."""
        if os.fstat(self.log_fd).st_size > _LOG_MAX:
            os.ftruncate(self.log_fd, 0)

    def log_tail(self) -> str:
        """The last of what the worker and its libraries wrote to stdout and stderr."""
        size = os.fstat(self.log_fd).st_size
        return os.pread(self.log_fd, _LOG_TAIL, max(0, size - _LOG_TAIL)).decode(errors="replace")

    def close(self) -> None:
        """Close every descriptor; the shared memory goes with the last of them."""
        self.hand_over()
        self.hang_up()
        for fd in (self._replies, self._pixels_fd, self._stacks_fd, self.log_fd):
            os.close(fd)


def _anonymous_file(name: str, flags: int = 0) -> int:
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create(name)
    else:
        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
    if flags:
        import fcntl

        fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | flags)
    return fd
