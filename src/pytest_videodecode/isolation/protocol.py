"""How a worker and its parent speak: length-prefixed JSON on two pipes, pixels in one shared anonymous file.

The shared file begins with a page of its own (``HEADER``) with two counters: the heartbeat, which the worker's
heartbeat thread advances while it can get the GIL, and how many samples a seat has decoded. Behind it lie the pixels
of the last reply. Nothing here unpickles.

A message to a worker is a ``DecodeRequest``, answered by a ``Reply``, or ``{"seat": SeatOrder}`` or ``{"go": Go}``,
each answered by a ``measurement.Seat``.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from typing import Any

from pytest_videodecode.errors import WorkerError
from pytest_videodecode.jsonform import parse
from pytest_videodecode.model import DecodeRequest, DecoderInfo, ErrorInfo, Outcome

#: In the environment of every worker: the process that started it, which may well have the number 1 in a container.
PARENT = "VIDEODECODE_PARENT"

HEADER = 4096
COUNTER = struct.Struct("<Q")
HEARTBEAT_AT, PROGRESS_AT = 0, 8
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """What a training job asks for at once: requests that are served one after another. Equal names, equal pixels."""

    name: str
    requests: tuple[DecodeRequest, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class SeatOrder:
    """Take a seat and get ready to decode these samples in turn; it replaces an order before.

    ``rehearse`` has every sample decoded once before the seat is ready: the decoder is warm then, the pixels are
    digested, the frames that the codec gives out are counted.
    """

    seat: int
    samples: tuple[Sample, ...]
    rehearse: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Go:
    """Decode for ``seconds``, finishing the sample under way, and no more than ``most`` samples."""

    seconds: float
    most: int | None = None


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
