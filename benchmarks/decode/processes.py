"""One process per peer: a peer's CPU, threads, faults and shared libraries are its own.

Several of the packages measured here bring an FFmpeg. In one process they would share it without being asked: decord
makes the symbols of its FFmpeg global, and OpenCV, loaded after it, then decodes with them.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Self

from benchmarks.decode import shared_ffmpeg
from benchmarks.decode.cells import Request
from benchmarks.decode.peer import Frames, Missing, NoFfmpeg
from benchmarks.decode.serving import Opened, serve

#: A peer that takes longer for one answer (s) is given up.
LIMIT_S = 300.0


class PeerProcess:
    """A process that serves one peer after the other. Close it, or use it as a context."""

    def __init__(self, context: Any = None, library_path: str = "") -> None:
        context = context or multiprocessing.get_context("spawn")
        self.connection: Connection
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs,), daemon=True)
        with _search_path(library_path):
            self._process.start()
        theirs.close()

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self._process.pid is not None
        return int(self._process.pid)

    @property
    def alive(self) -> bool:
        """Whether it can be told anything."""
        return bool(self._process.is_alive()) and not self.connection.closed

    def open(self, name: str, threads: int, trial: Sequence[Request]) -> Opened:
        """The peer ``name``, tried on ``trial``, in the place of the one before."""
        answer: Opened = self.ask("open", name, threads, trial)
        return answer

    def frames(self, request: Request) -> list[Frames]:
        """The frames of ``request``, by camera."""
        answer: list[Frames] = self.ask("frames", request)
        return answer

    def timed(self, request: Request) -> tuple[float, float]:
        """Wall and CPU seconds of ``request``."""
        wall, cpu = self.ask("timed", request)
        return wall, cpu

    def ask(self, *message: Any) -> Any:
        """The answer to ``message``.

        Raises:
            Missing: the peer is not installed, failed, died or did not answer in time.
        """
        self.tell(*message)
        return self.answer()

    def tell(self, *message: Any) -> None:
        """Send ``message`` and do not wait; raises as ``ask`` does."""
        try:
            self.connection.send(message)
        except OSError:
            raise self._died() from None

    def answer(self, limit_s: float = LIMIT_S) -> Any:
        """The answer to what was told before; raises as ``ask`` does."""
        try:
            if not self.connection.poll(limit_s):
                self.close()
                raise Missing(f"no answer within {limit_s:g} s; its process was ended")
            answer = self.connection.recv()
        except (EOFError, OSError):
            raise self._died() from None
        if isinstance(answer, Missing):
            raise answer
        return answer

    def _died(self) -> Missing:
        self.close()
        return Missing(f"its process died (exit code {self._process.exitcode})")

    def close(self) -> None:
        """End the process."""
        self.connection.close()
        self._process.join(2)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def start(name: str, threads: int, trial: Sequence[Request], folder: Path) -> tuple[PeerProcess, Opened]:
    """A process with the peer ``name`` open in it; one that finds no FFmpeg is started anew with PyAV's.

    Raises:
        Missing: as ``PeerProcess.ask``.
    """
    process = PeerProcess()
    try:
        return process, process.open(name, threads, trial)
    except NoFfmpeg:
        process.close()
        process = PeerProcess(library_path=shared_ffmpeg.library_path(folder))
        try:
            return process, process.open(name, threads, trial)
        except Missing:
            process.close()
            raise
    except Missing:
        process.close()
        raise


@contextmanager
def _search_path(paths: str) -> Iterator[None]:
    before = os.environ.get("LD_LIBRARY_PATH")
    if paths:
        os.environ["LD_LIBRARY_PATH"] = paths
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("LD_LIBRARY_PATH", None)
        else:
            os.environ["LD_LIBRARY_PATH"] = before
