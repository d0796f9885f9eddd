"""What machine this is, as far as its figures depend on it."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import psutil

from pytest_videodecode.measurement import Machine


def this_machine() -> Machine:
    """The machine that this process runs on; ``cores`` are those it may use."""
    return Machine(
        cpu=_cpu(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        memory=psutil.virtual_memory().total,
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        python=platform.python_version(),
    )


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return " ".join(value.split())
    except OSError:
        pass
    return platform.processor() or platform.machine()
