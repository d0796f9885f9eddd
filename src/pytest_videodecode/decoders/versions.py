"""Which libraries a decoder decodes with, as far as this process has imported them."""

from __future__ import annotations

import importlib.metadata
import sys
from types import ModuleType
from typing import Any

#: Module name → name on PyPI, where the two differ.
_DISTRIBUTIONS = {"cv2": "opencv-python-headless", "decord": "decord2", "PIL": "pillow"}

_KNOWN = ("av", "torch", "torchcodec", "torchvision", "cv2", "decord", "lerobot", "PIL", "numpy")


def loaded_versions() -> dict[str, str]:
    """Versions of the video libraries in ``sys.modules``; for PyAV also of the FFmpeg libraries inside it."""
    found = {name: version_of(module) for name in _KNOWN if (module := sys.modules.get(name)) is not None}
    if av := sys.modules.get("av"):
        found |= _ffmpeg_inside(av)
    return found


def version_of(module: ModuleType) -> str:
    """What the module says of itself, else what it was installed as."""
    name = module.__name__
    try:
        return str(getattr(module, "__version__", None) or importlib.metadata.version(_DISTRIBUTIONS.get(name, name)))
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def _ffmpeg_inside(av: Any) -> dict[str, str]:
    libraries = {name: ".".join(map(str, av.library_versions[name])) for name in ("libavcodec", "libavformat")}
    return {"ffmpeg": str(getattr(av, "ffmpeg_version_info", "unknown")), **libraries}
