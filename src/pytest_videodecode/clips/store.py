"""Files and truths on disk: written whole or not at all, each made by one process while the others wait."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import filelock

from pytest_videodecode import jsonform
from pytest_videodecode.clips.truth import Truth
from pytest_videodecode.errors import ClipError, FormError

#: Names the folder of the store.
ENVIRONMENT = "VIDEODECODE_CACHE"

# Longer than the longest job (clips.cache): who waits here waits for one that is being done.
_LOCK_LIMIT_S = 1800.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """The sidecar of a file: what its content must be, and the truth about it. Without a file, both are empty."""

    size: int = 0
    digest: str = ""
    truth: Truth


class Store:
    """Truths by name under ``root``, each with the file it is about or without."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def file(self, name: str, make: Callable[[Path], Truth]) -> Truth:
        """The truth about the file ``name``; ``make`` writes that file to the path it is given, if need be."""

        def entry(scratch: Path) -> Entry:
            target = scratch / name
            truth = make(target)
            content = target.read_bytes()
            # The file before its sidecar: a file without one is made anew, never believed.
            os.replace(target, self.root / name)
            return Entry(size=len(content), digest=_digest(content), truth=truth)

        return self._found_or_made(name, self._valid_file, entry)

    def truth(self, name: str, make: Callable[[], Truth]) -> Truth:
        """The truth called ``name``; ``make`` finds it out, if need be."""
        return self._found_or_made(name, self._valid, lambda scratch: Entry(truth=make()))

    def _found_or_made(self, name: str, valid: Callable[[str], Entry | None], make: Callable[[Path], Entry]) -> Truth:
        if entry := valid(name):
            return entry.truth
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            with (
                filelock.FileLock(self.root / f"{name}.lock", timeout=_LOCK_LIMIT_S),
                tempfile.TemporaryDirectory(prefix=".new-", dir=self.root) as scratch,
            ):
                if entry := valid(name):
                    return entry.truth
                entry = make(Path(scratch))
                sidecar = Path(scratch) / "sidecar"
                sidecar.write_text(json.dumps(jsonform.to_json(entry)))
                os.replace(sidecar, self._sidecar(name))
                return entry.truth
        except (OSError, filelock.Timeout) as error:
            raise ClipError(
                f"the clip cache {self.root} cannot be used ({error}); set {ENVIRONMENT} to a writable folder"
            ) from None

    def _sidecar(self, name: str) -> Path:
        return self.root / f"{name}.json"

    def _valid(self, name: str) -> Entry | None:
        """The entry ``name``, or None where it is absent or torn."""
        try:
            return jsonform.loads(Entry, self._sidecar(name).read_bytes(), "cache entry")
        except (OSError, FormError):
            return None

    def _valid_file(self, name: str) -> Entry | None:
        """As ``_valid``, and the file must be there with the content that it was given."""
        entry = self._valid(name)
        try:
            content = (self.root / name).read_bytes() if entry else b""
        except OSError:
            return None
        return entry if entry and len(content) == entry.size and _digest(content) == entry.digest else None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
