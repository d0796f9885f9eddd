"""Remote files as a source finds them, one try at a time, and the ones that fsspec finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

# What tells one state of a remote file from another, by the names that file systems have for it.
_IDENTITY = ("size", "xet_hash", "blob_id", "etag", "ETag", "mtime", "LastModified", "last_modified", "created")


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """One file as its source describes it; ``identity`` changes with its content."""

    size: int
    identity: str
    url: str


class RemoteFiles(Protocol):
    """What differs between kinds of remote roots: one try each, faults as the library raises them. Can be pickled."""

    @property
    def shown(self) -> str:
        """The root for messages, without credentials."""

    def connect(self) -> None:
        """Find the root."""

    def look(self, path: str) -> RemoteFile:
        """The file ``path``; ``FileNotFoundError`` if there is none."""

    def list(self, folder: str) -> list[str]:
        """All files below ``folder``, relative to the root."""

    def fetch(self, file: RemoteFile, start: int, end: int) -> bytes:
        """The bytes of ``file`` from ``start`` up to ``end``."""


class FsspecFiles:
    """Files below any URL that fsspec has a file system for."""

    def __init__(self, root: str) -> None:
        self._root = root.rstrip("/")

    @property
    def shown(self) -> str:
        return without_secrets(self._root)

    def connect(self) -> None:
        self._at("")

    def look(self, path: str) -> RemoteFile:
        files, url = self._at(path)
        return described(files.info(url), url)

    def list(self, folder: str) -> list[str]:
        files, url = self._at(folder)
        prefix = self._at("")[1].rstrip("/") + "/"
        return [name.removeprefix(prefix) for name in files.find(url)]

    def fetch(self, file: RemoteFile, start: int, end: int) -> bytes:
        return bytes(self._at("")[0].cat_file(file.url, start=start, end=end))

    def _at(self, path: str) -> tuple[Any, str]:
        from fsspec.core import url_to_fs

        files, url = url_to_fs(f"{self._root}/{path}" if path else self._root)  # fsspec keeps one for each process
        return files, url


def described(info: Mapping[str, Any], url: str) -> RemoteFile:
    """What a file system's ``info`` says of a file.

    Raises:
        FileNotFoundError: it is a folder.
        ValueError: its size is not known, so that nothing could tell whether all of it came.
    """
    if info.get("type") == "directory":
        raise FileNotFoundError("a folder, not a file")
    size = info.get("size")
    if not isinstance(size, int) or size < 0:
        raise ValueError("the source does not say how large the file is")
    return RemoteFile(size, "\0".join(f"{name}={info[name]}" for name in _IDENTITY if name in info), url)


def without_secrets(url: str) -> str:
    """``url`` without a user and password, and without a query, which may hold a signature."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()
