"""Ctrl-C on a command whose decoder hangs with children of its own (``rogue:leaves_grandchildren``)."""

from __future__ import annotations

import os
import select
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
import rogue

_LONG_S = 60


@dataclass(frozen=True)
class Interrupted:
    """What came of it; ``survivors`` are processes that outlived the command by ten seconds."""

    status: int
    out: str
    err: str
    grandchildren: int
    survivors: list[psutil.Process]


def interrupt(command: Sequence[str], folder: Path) -> Interrupted:
    """Run ``command`` in ``folder``, and interrupt it as soon as its decoder has told that it hangs."""
    fifo = folder / "pids"
    os.mkfifo(fifo)
    reading = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, rogue.PIDS_ENV: str(fifo), "PYTHONPATH": str(Path(rogue.__file__).parent)},
    )
    ended = os.pidfd_open(process.pid)
    try:
        ready, _, _ = select.select([reading, ended], [], [], _LONG_S)
        if ready == [reading]:
            grandchildren = [psutil.Process(int(pid)) for pid in os.read(reading, 4096).split()]
            processes = {*grandchildren, *psutil.Process(process.pid).children(recursive=True)}
            process.send_signal(signal.SIGINT)
        else:
            process.kill()
        out, err = process.communicate(timeout=_LONG_S)
    finally:
        process.kill()
        os.close(reading)
        os.close(ended)
        fifo.unlink()
    assert ready == [reading], f"the decoder was not called: {out}{err}"
    _, alive = psutil.wait_procs(processes, timeout=10)
    survivors = [other for other in alive if other.status() != psutil.STATUS_ZOMBIE]
    return Interrupted(process.returncode, out, err, len(grandchildren), survivors)
