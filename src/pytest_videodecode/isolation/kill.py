"""Ending a worker and everything that it started, from outside."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

#: In the environment of every worker, with a token of its own: a descendant that left the process group and was
#: given to init still carries it.
TOKEN = "VIDEODECODE_WORKER"


def kill_tree(group: int | None, token: str) -> None:
    """SIGKILL to the process group, if it still is one, then to whatever still carries the worker's token."""
    if group is not None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    for pid in descendants(token):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def descendants(token: str) -> list[int]:
    """Live processes whose environment has the worker's token; empty where there is no ``/proc``."""
    mark = f"{TOKEN}={token}".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:  # not ours to read, or gone since
            continue
    return found
