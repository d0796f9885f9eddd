"""Where a run took place: what a reader of a report needs to compare it with another."""

from __future__ import annotations

import os
import platform
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
