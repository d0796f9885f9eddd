"""Remote video files kept on the local disk, for all processes that read one data set.

Files are written whole or not at all. A file that a process was handed stays until that process has been handed
``PINNED`` others: it holds a shared lock on it, which whoever looks for room tests. ``max_bytes`` therefore bounds the
folder but for the files in use. Locks are the kernel's and end with their process.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import tempfile
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from pytest_videodecode.production.errors import VideoReadError
from pytest_videodecode.production.sources.errors import SourceError

#: So many files a process keeps from being removed: more than the cameras of a data set.
PINNED = 32
DEFAULT_MAX_BYTES = 20 * 1024**3

_LOCKS = 64
_PART = ".part"
_NAME = re.compile(r"[0-9a-f]{32}(\.\w+)?(\.part)?")


class SourceCache:
    """Files by key in ``folder``, the least recently used removed first.

    Without a folder it makes a temporary one, which goes with this object or at the end of the process that made it;
    copies in other processes (pickled or forked) use the same one. For one thread at a time.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None, max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        if max_bytes < 1:
            raise SourceError(f"a source cache of {max_bytes} bytes holds nothing; give 1 byte or more")
        try:
            if folder is None:
                self.folder = Path(tempfile.mkdtemp(prefix="videodecode-source-"))
                weakref.finalize(self, _remove, self.folder, os.getpid())
            else:
                self.folder = Path(folder).absolute()
                self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SourceError(
                f"source cache {folder}: cannot be used ({error.strerror}); give another folder"
            ) from None
        self.max_bytes = max_bytes
        self._hold_nothing()

    def path(self, key: str, suffix: str, size: int, fetch: Callable[[IO[bytes]], None]) -> str:
        """The path of file ``key`` (32 hexadecimal digits) of ``size`` bytes; ``fetch`` writes it if it is not there.

        Of several processes that want the same file, one fetches it and the others wait.

        Raises:
            SourceError: the folder cannot be written, or is full.
        """
        import filelock

        name = key + suffix
        if self._pin(name, size):
            return str(self.folder / name)
        try:
            with filelock.FileLock(self.folder / f"lock-{_slot(key)}"):
                if not self._pin(name, size):
                    self._fetch(name, size, fetch)
        except VideoReadError:
            raise
        except OSError as error:
            raise SourceError(
                f"source cache {self.folder}: cannot keep {size} bytes ({error.strerror or error}); make room, or "
                "name another folder in VIDEODECODE_SOURCE_CACHE"
            ) from None
        return str(self.folder / name)

    def close(self) -> None:
        """Let go of the files handed out; a temporary folder stays until this object goes."""
        _close(self._pins)

    def _fetch(self, name: str, size: int, fetch: Callable[[IO[bytes]], None]) -> None:
        part = self.folder / (name + _PART)
        with self._room_lock():
            self._make_room(size)
            file = open(part, "w+b")  # noqa: SIM115 - kept open as a pin
            fcntl.flock(file, fcntl.LOCK_EX)
            file.truncate(size)  # others that look for room see it
        try:
            fetch(file)
            file.flush()
            os.replace(part, self.folder / name)
        except BaseException:
            part.unlink(missing_ok=True)
            file.close()
            raise
        fcntl.flock(file, fcntl.LOCK_SH)
        self._keep(name, file)

    def _room_lock(self) -> Any:
        import filelock

        return filelock.FileLock(self.folder / "lock-room")

    def _make_room(self, size: int) -> None:
        """Remove files, those used longest ago first, and what a killed process left, until ``size`` fits."""
        found = []
        for path in self.folder.iterdir():
            if _NAME.fullmatch(path.name):  # the folder may hold what is not ours
                with contextlib.suppress(FileNotFoundError):  # another process has just renamed or removed it
                    state = path.stat()
                    found.append((path.suffix != _PART, state.st_atime_ns, state.st_size, path))
        total = sum(entry[2] for entry in found)
        for whole, _, length, path in sorted(found):
            if whole and total + size <= self.max_bytes:
                break
            if _remove_unused(path):
                total -= length

    def _pin(self, name: str, size: int) -> bool:
        """Hold the file ``name`` if it is there with that size."""
        if self._process != os.getpid():  # what is inherited is held by the parent
            self.close()
            self._hold_nothing()
        path = self.folder / name
        file = self._pins.pop(name, None)
        try:
            if file is None:
                file = open(path, "rb")  # noqa: SIM115 - kept open as a pin
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            there, held = path.stat(), os.fstat(file.fileno())
            if (there.st_ino, there.st_size) != (held.st_ino, size):
                raise FileNotFoundError
            # The modification time stays: a decoder cache takes a new one for a new file.
            os.utime(path, ns=(time.time_ns(), there.st_mtime_ns))
        except OSError:
            if file is not None:
                file.close()
            return False
        self._keep(name, file)
        return True

    def _keep(self, name: str, file: IO[bytes]) -> None:
        self._pins[name] = file
        while len(self._pins) > PINNED:
            self._pins.pop(next(iter(self._pins))).close()

    def _hold_nothing(self) -> None:
        self._pins: dict[str, IO[bytes]] = {}
        self._process = os.getpid()
        weakref.finalize(self, _close, self._pins)

    def __getstate__(self) -> dict[str, Any]:
        return {"folder": self.folder, "max_bytes": self.max_bytes}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._hold_nothing()


def _slot(key: str) -> int:
    """Which of the folder's lock files guards the fetching of ``key`` (hexadecimal)."""
    return int(key[:4], 16) % _LOCKS


def _remove_unused(path: Path) -> bool:
    """Remove the file unless a process holds it."""
    try:
        with open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
    except OSError:
        return False
    return True


def _close(files: dict[str, IO[bytes]]) -> None:
    while files:
        files.popitem()[1].close()


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
