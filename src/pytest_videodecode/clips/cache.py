"""The clips that checks run on: synthetic ones by spec, real ones by path, made or examined once."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import stat
from pathlib import Path
from typing import Any

import platformdirs

from pytest_videodecode import jsonform
from pytest_videodecode.clips import ffmpeg_cli, job, rules
from pytest_videodecode.clips.readers import MarkReader, ReferenceReader
from pytest_videodecode.clips.store import ENVIRONMENT, Store
from pytest_videodecode.errors import ClipError
from pytest_videodecode.model import Clip, ClipSpec

#: Raise this when the same spec would make another file, or the truth about a file would be told otherwise.
GENERATOR = 3

_LEAST_LIMIT_S = 60.0
_PIXELS_PER_S = 2e6
_REAL_LIMIT_S = 900.0


class ClipCache:
    """Clips by spec, and real files with the truth about them, kept under ``root``.

    ``root`` defaults to the environment variable ``VIDEODECODE_CACHE``, else to the user's cache folder. Many
    processes may use one folder at once; a damaged entry is made anew.
    """

    def __init__(self, root: Path | None = None) -> None:
        named = os.environ.get(ENVIRONMENT)
        default = Path(named) if named else platformdirs.user_cache_path("pytest-videodecode")
        self.root = (root or default).absolute()  # workers may run in another folder
        self._store = Store(self.root)
        self._clips: dict[ClipSpec, Clip] = {}
        self._real: dict[tuple[Path, int, int], Clip] = {}

    def clip(self, spec: ClipSpec) -> Clip:
        """The clip of ``spec``, made now if it is not there yet.

        Raises:
            ClipError: the spec cannot be made, or the cache folder cannot be used.
            Unsupported: no encoder for it is here.
        """
        if spec not in self._clips:
            rules.require_usable(spec)
            name = f"{re.sub('[^A-Za-z0-9.=-]', '_', spec.name)[:80]}-{_key(spec)}.{spec.container}"
            limit_s = _LEAST_LIMIT_S + spec.width * spec.height * spec.frames / _PIXELS_PER_S
            truth = self._store.file(name, lambda path: job.run(job.Job(path=str(path), spec=spec), limit_s))
            read = MarkReader(truth.width, truth.height)
            self._clips[spec] = truth.clip(spec.name, self.root / name, read, spec)
        return self._clips[spec]

    def real(self, path: Path) -> Clip:
        """The real file ``path`` with the truth about it, found by FFmpeg's command line.

        A file with no frame that FFmpeg can decode is a clip without frames, not intact.

        Raises:
            ClipError: no such file, a folder, an empty or unreadable file, no video, or one too long.
            Unsupported: there is no FFmpeg command line.
        """
        found = _stat(path)
        key = (path.resolve(), found.st_size, found.st_mtime_ns)
        if key not in self._real:
            reference = _short_digest([GENERATOR, ffmpeg_cli.version(ffmpeg_cli.find())])
            truth = self._store.truth(
                f"real-{_content_digest(path)}-{reference}",
                lambda: job.run(job.Job(path=str(path.resolve())), _REAL_LIMIT_S),
            )
            self._real[key] = truth.clip(path.name, path.absolute(), ReferenceReader(truth))
        return self._real[key]


def _key(spec: ClipSpec) -> str:
    return _short_digest([jsonform.to_json(spec), GENERATOR, _library_versions()])


@functools.cache
def _library_versions() -> dict[str, str]:
    import av

    libraries = {name: ".".join(map(str, numbers)) for name, numbers in av.library_versions.items()}
    return {"av": av.__version__, **libraries}


def _short_digest(parts: list[Any]) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def _stat(path: Path) -> os.stat_result:
    """What the system says of the file ``path``, which must be a readable, ordinary file with something in it."""
    try:
        found = path.stat()
    except OSError as error:
        raise ClipError(f"{path}: no such file can be found ({error.strerror}); correct the path") from None
    if stat.S_ISDIR(found.st_mode):
        raise ClipError(f"{path}: a folder; give a video file")
    if not stat.S_ISREG(found.st_mode):
        raise ClipError(f"{path}: not an ordinary file; give a video file")
    if not found.st_size:
        raise ClipError(f"{path}: an empty file; give a video file")
    return found


def _content_digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ClipError(f"{path}: cannot be read ({error.strerror}); correct its permissions") from None
