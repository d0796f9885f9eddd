"""Whether so many seats fit on this machine, asked before they are started."""

from __future__ import annotations

import os
import resource

import psutil

from pytest_videodecode.errors import MeasurementError
from pytest_videodecode.isolation.census import HAS_PROC

#: Descriptors that one worker takes in this process, and those that are left for everything else.
_FDS_PER_SEAT = 8
_FDS_LEFT = 64

#: Resident bytes that a Python with numpy has at least, and what a seat grows by once it decodes in company.
_LEAST = 24 << 20
_GROWTH = 1.25


def require_files(seats: int) -> None:
    """Refuse more seats than this process may have files open for, or than could ever fit into memory.

    Raises:
        MeasurementError: naming what is there and what is wanted.
    """
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = len(os.listdir("/proc/self/fd")) if HAS_PROC else 0
    if soft != resource.RLIM_INFINITY and seats * _FDS_PER_SEAT + used + _FDS_LEFT > soft:
        raise MeasurementError(
            f"{seats} seats need about {seats * _FDS_PER_SEAT} open files, the limit is {soft} and {used} are in use; "
            "seat fewer processes, or raise it (ulimit -n)"
        )
    _require(f"{seats} seats", seats * _LEAST)


def require_memory(decoder: str, seats: int, resident: int) -> None:
    """Refuse more seats than fit into the free memory, where the first one has ``resident`` bytes.

    Raises:
        MeasurementError: naming what is there and what is wanted.
    """
    one = f"{resident >> 20} MiB for one, measured"
    _require(f"{seats} seats of {decoder} ({one})", round((seats - 1) * resident * _GROWTH))


def _require(who: str, needed: int) -> None:
    free = psutil.virtual_memory().available
    if needed > free:
        raise MeasurementError(
            f"{who} need about {needed >> 20} MiB more memory, {free >> 20} MiB are free; seat fewer processes"
        )
