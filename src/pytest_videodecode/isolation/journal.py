"""The request that a worker is about to serve, on disk before it is served.

When a run is killed from outside, the file says which decode it was in. One small file per worker, overwritten in
place: no sync to the medium, since a killed process loses nothing that it has written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pytest_videodecode.errors import WorkerError


class Journal:
    """One worker's file; it is removed when the worker ends in good order."""

    def __init__(self, folder: Path, decoder: str, pid: int) -> None:
        self.path = folder / f"worker-{pid}.json"
        self._decoder = decoder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise WorkerError(f"cannot write the journal {self.path}: {error.strerror}") from None

    def write(self, request: Mapping[str, Any]) -> None:
        """Put ``request``, in its JSON form, in place of the one before."""
        body = json.dumps({"decoder": self._decoder, "request": request}).encode()
        os.pwrite(self._fd, body, 0)
        os.ftruncate(self._fd, len(body))

    def close(self) -> None:
        """Remove the file, and its folder when that was the last one."""
        os.close(self._fd)
        with suppress(OSError):
            self.path.unlink()
            self.path.parent.rmdir()
            self.path.parent.parent.rmdir()
