"""Remote sources of a data set: the Hub (``hf://datasets/…``, ``hf://buckets/…``) and any fsspec URL.

Video files are fetched whole into a local disk cache: a training job reads nearly every frame of a file, and ranges
read through a file object cost more requests and bytes than the file has (figures in ``docs/datasets.md``).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import IO, TypeVar

from pytest_videodecode.production.errors import VideoReadError
from pytest_videodecode.production.layout.errors import DatasetFileMissingError
from pytest_videodecode.production.sources.cache import DEFAULT_MAX_BYTES, SourceCache
from pytest_videodecode.production.sources.errors import SourceError
from pytest_videodecode.production.sources.files import FsspecFiles, RemoteFile, RemoteFiles, without_secrets
from pytest_videodecode.production.sources.hub import HubFiles
from pytest_videodecode.production.sources.local import LocalSource, Source
from pytest_videodecode.production.sources.retry import (
    IncompleteAnswerError,
    Retry,
    SourceStatistics,
    describe,
    http_status,
)

T = TypeVar("T")

#: Names the folder in which fetched video files are kept between runs, and how many bytes it may hold.
CACHE_VARIABLE, CACHE_BYTES_VARIABLE = "VIDEODECODE_SOURCE_CACHE", "VIDEODECODE_SOURCE_CACHE_BYTES"

#: A fetch is made of requests of this size, so that a fault costs no more than one of them.
PART_BYTES = 8 * 1024**2


def open_source(
    root: str | os.PathLike[str],
    *,
    revision: str | None = None,
    cache: SourceCache | None = None,
    retry: Retry | None = None,
) -> Source:
    """The source at ``root``: a local folder, ``hf://datasets/OWNER/NAME``, ``hf://buckets/OWNER/NAME``, or a URL.

    A data set of the Hub is pinned to the commit that ``revision`` (``main``) names now, so that all workers read one
    state of it. ``HF_ENDPOINT`` names another Hub. ``cache`` keeps video files; if None, one in the folder of
    ``VIDEODECODE_SOURCE_CACHE`` with at most ``VIDEODECODE_SOURCE_CACHE_BYTES`` (20 GiB), or in a temporary folder
    that is removed at the end.

    Raises:
        SourceError: a URL that nothing here can read, a revision where there are none, or access refused.
        SourceUnreachableError: the Hub does not answer.
        DatasetFileMissingError: the Hub has no such data set or bucket.
    """
    text = os.fspath(root)
    if "://" not in text:
        if revision is not None:
            raise SourceError(f"{text}: a local folder has no revisions; leave out revision {revision!r}")
        return LocalSource(text)
    files: RemoteFiles
    if text.startswith("hf://"):
        files = HubFiles(text, revision)
    else:
        if revision is not None:
            raise SourceError(
                f"{without_secrets(text)}: only data sets of the Hub have revisions; leave out {revision!r}"
            )
        files = FsspecFiles(text)
    source = RemoteSource(files, cache or _default_cache(), retry or Retry())
    source.ask("", files.connect)
    return source


class RemoteSource:
    """A remote ``Source``: every request asked again where that helps, every answer checked for its length."""

    def __init__(self, files: RemoteFiles, cache: SourceCache, retry: Retry) -> None:
        self._files, self._cache, self._retry = files, cache, retry
        self._known: dict[str, RemoteFile] = {}
        #: Requests, retries, faults and bytes so far, of this process.
        self.statistics = SourceStatistics()

    @property
    def description(self) -> str:
        return self._files.shown

    def read_bytes(self, path: str, start: int | None = None, end: int | None = None) -> bytes:
        file = self._look(path)
        first, last = start or 0, file.size if end is None else min(end, file.size)
        return b"".join(
            self._fetch(path, file, at, min(at + PART_BYTES, last)) for at in range(first, last, PART_BYTES)
        )

    def size(self, path: str) -> int:
        return self._look(path).size

    def exists(self, path: str) -> bool:
        try:
            self._look(path)
        except DatasetFileMissingError:
            return False
        return True

    def files(self, folder: str) -> list[str]:
        try:
            return sorted(self.ask(folder, lambda: self._files.list(folder)))
        except DatasetFileMissingError:
            return []

    def video(self, path: str) -> str:
        file = self._look(path)

        def fetch(target: IO[bytes]) -> None:
            for at in range(0, file.size, PART_BYTES):
                target.write(self._fetch(path, file, at, min(at + PART_BYTES, file.size)))

        key = hashlib.sha256(f"{self.description}\0{path}\0{file.identity}".encode()).hexdigest()[:32]
        return self._cache.path(key, PurePosixPath(path).suffix, file.size, fetch)

    def ask(self, path: str, action: Callable[[], T]) -> T:
        """What ``action`` brings of ``path``, asked again where that helps; its faults as errors of this package."""
        what = f"{self.description}/{path}" if path else self.description
        try:
            return self._retry.run(what, action, self.statistics)
        except VideoReadError:
            raise
        except Exception as error:
            if isinstance(error, FileNotFoundError) or http_status(error) in (404, 410):
                raise DatasetFileMissingError(f"{what}: is not there ({describe(error)})") from error
            raise SourceError(
                f"{what}: cannot be read ({describe(error)}); check the address and the access"
            ) from error

    def _look(self, path: str) -> RemoteFile:
        if path not in self._known:
            if path.startswith("/") or ".." in path.split("/"):
                raise DatasetFileMissingError(f"{path}: leads out of {self.description}; correct the data set")
            self._known[path] = self.ask(path, lambda: self._files.look(path))
        return self._known[path]

    def _fetch(self, path: str, file: RemoteFile, start: int, end: int) -> bytes:
        def whole() -> bytes:
            got = self._files.fetch(file, start, end)
            if len(got) != end - start:
                raise IncompleteAnswerError(f"{len(got)} of {end - start} bytes came")
            return got

        answer = self.ask(path, whole)
        self.statistics.bytes += len(answer)
        return answer


def _default_cache() -> SourceCache:
    said = os.environ.get(CACHE_BYTES_VARIABLE, "").strip()
    if said and not (said.isascii() and said.isdigit() and len(said) < 19):
        raise SourceError(f"{CACHE_BYTES_VARIABLE}={said[:40]!r} is no number of bytes; give one, or unset it")
    return SourceCache(os.environ.get(CACHE_VARIABLE) or None, int(said) if said else DEFAULT_MAX_BYTES)
