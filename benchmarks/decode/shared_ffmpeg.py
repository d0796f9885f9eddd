"""FFmpeg's shared libraries for torchcodec, taken from PyAV's wheel where the system has none.

torchcodec carries no FFmpeg. PyAV's wheel does, under names with a hash (``libavcodec-5e6b81c2.so.62.28.102``). Links
with the names that the dynamic linker looks for (``libavcodec.so.62``), on ``LD_LIBRARY_PATH`` when a process starts,
let torchcodec load them. The comparison then is one of readers, with the same decoders behind them.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from pathlib import Path

import av

_LIBRARY = re.compile(r"lib(avcodec|avdevice|avfilter|avformat|avutil|swresample|swscale)-[0-9a-f]+\.so\.(\d+)[.\d]*")


def library_path(folder: Path) -> str:
    """``LD_LIBRARY_PATH`` for a process in which torchcodec finds PyAV's libraries; empty where PyAV has none to give.

    The links are made under ``folder`` unless they are there.
    """
    libraries = Path(av.__file__).parent.parent / "av.libs"
    names = {f"lib{m[1]}.so.{m[2]}": path for path in libraries.glob("*.so.*") if (m := _LIBRARY.fullmatch(path.name))}
    if not names:
        return ""
    links = folder / f"ffmpeg-{hashlib.sha256(str(sorted(names.values())).encode()).hexdigest()[:16]}"
    if not links.is_dir():
        _make_links(links, names)
    return os.pathsep.join(filter(None, [str(links), str(libraries), os.environ.get("LD_LIBRARY_PATH", "")]))


def _make_links(links: Path, names: dict[str, Path]) -> None:
    links.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=links.parent) as scratch:
        made = Path(scratch, "links")
        made.mkdir()
        for name, path in names.items():
            (made / name).symlink_to(path)
        try:
            made.rename(links)
        except OSError:
            if not links.is_dir():  # else another process was first
                raise
