"""Where the files of a data set come from: what is asked of a source, and the source that is a local folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol

from pytest_videodecode.production.layout.errors import DatasetFileMissingError
from pytest_videodecode.production.reading.video_source import BinaryReader


class Source(Protocol):
    """The files of one data set. Paths are relative to its root, with ``/`` between their parts.

    A source goes to worker processes: it can be pickled, and what is open in it does not outlive a fork.
    A file that is not there raises ``DatasetFileMissingError``; any other failure of a source raises an error below
    ``VideoReadError`` that names the file.
    """

    @property
    def description(self) -> str:
        """The root as the user knows it, for messages."""

    def read_bytes(self, path: str, start: int | None = None, end: int | None = None) -> bytes:
        """The bytes from ``start`` (0) up to ``end`` (the file's end), neither more nor fewer."""

    def size(self, path: str) -> int:
        """The file's size in bytes."""

    def exists(self, path: str) -> bool:
        """Whether there is such a file."""

    def files(self, folder: str) -> list[str]:
        """All files in ``folder`` and below, sorted; none if there is no such folder."""

    def video(self, path: str) -> str | BinaryReader:
        """What ``decode_video_frames`` takes for this file: a path or URL, or a file object."""


class LocalSource:
    """The files below a local folder."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self._root = Path(root).absolute()

    @property
    def description(self) -> str:
        return str(self._root)

    def read_bytes(self, path: str, start: int | None = None, end: int | None = None) -> bytes:
        first = start or 0
        try:
            with open(self._root / path, "rb") as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(first)
                return file.read(max(0, min(size, size if end is None else end) - first))
        except OSError as error:
            raise self._failure(path, error) from None

    def size(self, path: str) -> int:
        try:
            return (self._root / path).stat().st_size
        except OSError as error:
            raise self._failure(path, error) from None

    def exists(self, path: str) -> bool:
        return (self._root / path).is_file()

    def files(self, folder: str) -> list[str]:
        found = []
        for where, folders, names in os.walk(self._root / folder):
            folders.sort()
            base = Path(where).relative_to(self._root)
            found += [(base / name).as_posix() for name in names]
        return sorted(found)

    def video(self, path: str) -> str:
        return str(self._root / path)

    def _failure(self, path: str, error: OSError) -> DatasetFileMissingError:
        return DatasetFileMissingError(f"{self._root / path}: cannot be read ({error.strerror or error})")
