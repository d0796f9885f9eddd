"""How a worker and its parent speak: length-prefixed JSON on two pipes, pixels in one shared anonymous file.

The shared file begins with a page of its own (``HEADER``): a heartbeat counter that the worker's heartbeat thread
advances while it can get the GIL. Behind it lie the pixels of the last reply. Nothing here unpickles.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from typing import Any

from pytest_videodecode.errors import WorkerError
from pytest_videodecode.jsonform import parse
from pytest_videodecode.model import DecoderInfo, ErrorInfo, Outcome

#: In the environment of every worker: the process that started it, which may well have the number 1 in a container.
PARENT = "VIDEODECODE_PARENT"

HEADER = 4096
HEARTBEAT = struct.Struct("<Q")
HEARTBEAT_S = 0.02

#: Most bytes of pixels in one reply: 77 frames of 1920x1080 are 0.5 GB.
MAX_PIXELS = 2 * 1024**3

_LENGTH = struct.Struct("<I")
_MAX_MESSAGE = 16 * 1024 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Hello:
    """The worker's first message: the decoder that it loaded, or why it could not."""

    info: DecoderInfo | None = None
    error: ErrorInfo | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """An outcome and the shape (N,H,W,3) of the pixels that lie in the shared file."""

    outcome: Outcome
    shape: tuple[int, ...] = ()


def write_message(fd: int, body: bytes) -> None:
    """One message, whole; a reader that is gone is an ``OSError``."""
    view = memoryview(_LENGTH.pack(len(body)) + body)
    while view:
        view = view[os.write(fd, view) :]


def read_message(fd: int) -> Any:
    """The next message as builtin types, or None when the writer is gone.

    Raises:
        WorkerError, FormError: for bytes that are no message.
    """
    prefix = _read_exactly(fd, _LENGTH.size)
    if len(prefix) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(prefix)
    if length > _MAX_MESSAGE:
        raise WorkerError(f"a message of {length} bytes, more than the {_MAX_MESSAGE} allowed")
    body = _read_exactly(fd, length)
    return parse(body, "message") if len(body) == length else None


def _read_exactly(fd: int, length: int) -> bytes:
    parts = bytearray()
    while len(parts) < length:
        part = os.read(fd, min(length - len(parts), 1 << 20))
        if not part:
            break
        parts += part
    return bytes(parts)
