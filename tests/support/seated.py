"""Decoders for seats, and a sample that is small; each function in the plain shape ``(path, indices)``."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pytest_videodecode.decoders import pyav
from pytest_videodecode.measure.sample import SampleShape
from pytest_videodecode.model import DecodeRequest

#: Quick to make and to decode.
SMALL = SampleShape(cameras=2, picked=3, window=9, width=160, height=96, gop=4, length=16, distinct=4)

#: Folder where a decoder that goes wrong in one process only leaves a note that it has.
FOLDER_ENV = "SEATED_FOLDER"

#: The proof and the rehearsal take fewer calls than this.
_CALLS = 12

_calls = 0


def right(path: str, indices: Sequence[int]) -> Any:
    """The frames asked for."""
    return np.stack(list(pyav.decode(DecodeRequest(path=path, indices=tuple(indices)))))


def by_time(path: str, timestamps: Sequence[float]) -> Any:
    """The frames asked for, by timestamp only."""
    return np.stack(list(pyav.decode(DecodeRequest(path=path, timestamps=tuple(timestamps)))))


def off_by_one(path: str, indices: Sequence[int]) -> Any:
    """The frame before the one asked for."""
    return right(path, [max(0, index - 1) for index in indices])


def one_process_dies(path: str, indices: Sequence[int]) -> Any:
    """Right, but after a while the first process that gets there is killed."""
    if _late() and _first():
        os.kill(os.getpid(), signal.SIGKILL)
    return right(path, indices)


def one_process_hangs(path: str, indices: Sequence[int]) -> Any:
    """Right, but after a while the first process that gets there waits for ever."""
    if _late() and _first():
        threading.Event().wait()
    return right(path, indices)


def all_raise(path: str, indices: Sequence[int]) -> Any:
    """Right, but after a while it raises."""
    if _late():
        raise RuntimeError("no more of this")
    return right(path, indices)


def _late() -> bool:
    global _calls  # noqa: PLW0603  one worker process, one count
    _calls += 1
    return _calls > _CALLS


def _first() -> bool:
    try:
        os.close(os.open(Path(os.environ[FOLDER_ENV], "done"), os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True
