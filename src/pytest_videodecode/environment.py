"""Where a run took place: what a reader of a report needs to compare it with another."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib import metadata
from typing import Any

import av

from pytest_videodecode import __version__

_PACKAGES = ("av", "hypothesis", "imageio-ffmpeg", "numpy", "pytest", "pytest-timeout", "pytest-xdist")


def environment() -> dict[str, Any]:
    """Builtin types: versions of this package, its libraries and FFmpeg's, the machine and its cores."""
    return {
        "pytest-videodecode": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "packages": {name: version for name in _PACKAGES if (version := package_version(name))},
        "ffmpeg": {name: ".".join(map(str, version)) for name, version in sorted(av.library_versions.items())},
    }


def package_version(name: str) -> str:
    """The installed version of a distribution; empty where it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def commit_info() -> dict[str, Any]:
    """What git says of the current folder, in the words of pytest-benchmark's ``commit_info``."""
    commit, time, author_time = (_git("log", "-1", "--format=%H\n%cI\n%aI") or "unversioned\n\n").split("\n")[:3]
    return {
        "id": commit,
        "time": time or None,
        "author_time": author_time or None,
        "dirty": bool(_git("status", "--porcelain", "--untracked-files=no")),
        "project": os.path.basename(_git("rev-parse", "--show-toplevel") or os.getcwd()),
        "branch": _git("symbolic-ref", "--short", "HEAD") or "(unknown)",
    }


def _git(*command: str) -> str:
    """Its output; empty where there is no git, or no repository."""
    try:
        done = subprocess.run(["git", *command], capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
