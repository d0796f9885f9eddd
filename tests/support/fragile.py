"""A right decoder with one weak place: bytes 48 and later of the file, which a test plants a fault behind.

``FRAGILE_CLEAN`` names the undamaged file. All functions are in the plain shape ``(path, indices)``.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import av
import numpy as np

CLEAN_ENV = "FRAGILE_CLEAN"
WEAK = slice(48, None)


def sound(path: str, indices: Sequence[int]) -> Any:
    """The frames asked for, decoded from the first one on; an ``IndexError`` for one that does not come."""
    wanted, found = set(indices), {}
    with av.open(path) as container:
        for number, frame in enumerate(container.decode(container.streams.video[0])):
            if number in wanted:
                found[number] = frame.to_ndarray(format="rgb24")
            if len(found) == len(wanted):
                break
    for number in indices:
        if number not in found:
            raise IndexError(f"no frame {number}")
    return np.stack([found[number] for number in indices])


def hangs(path: str, indices: Sequence[int]) -> Any:
    """Waits for ever when the weak place is not as it was."""
    if _is_hit(path):
        threading.Event().wait()
    return sound(path, indices)


def crashes(path: str, indices: Sequence[int]) -> Any:
    """Ends the process when the weak place is not as it was."""
    if _is_hit(path):
        os.kill(os.getpid(), signal.SIGSEGV)
    return sound(path, indices)


def loses(path: str, indices: Sequence[int]) -> Any:
    """Returns one picture less, and no error, when the weak place is not as it was."""
    return sound(path, indices[: -1 if _is_hit(path) else None])


def confuses(path: str, indices: Sequence[int]) -> Any:
    """Raises what damaged files must not raise when the weak place is not as it was."""
    if _is_hit(path):
        raise KeyError("pts")
    return sound(path, indices)


def _is_hit(path: str) -> bool:
    clean = Path(os.environ[CLEAN_ENV]).read_bytes()
    data = Path(path).read_bytes()
    return len(data) == len(clean) and data[WEAK] != clean[WEAK]
