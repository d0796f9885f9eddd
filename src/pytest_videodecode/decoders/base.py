"""What a decoder is to a worker, and the one place where a request meets what a decoder honours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from pytest_videodecode.errors import Unsupported
from pytest_videodecode.model import DecodeRequest, DecoderInfo

#: All frames at once, ``uint8 (N,H,W,3)``, or one ``(H,W,3)`` after another, in the order asked.
Frames = NDArray[np.uint8] | Iterator[NDArray[np.uint8]]


class Decoder(Protocol):
    """A system under test, loaded and ready to be asked."""

    @property
    def info(self) -> DecoderInfo:
        """What it is and what it honours of a request."""

    def decode(self, request: DecodeRequest) -> Frames:
        """The frames asked for, C-contiguous RGB. An iterator may yield some and then raise.

        Raises:
            Unsupported: for something in the request that ``info`` does not promise.
            DecoderContractError: where the system under test returned no batch of frames.
            Exception: whatever the system under test raises.
        """


@dataclass(frozen=True, kw_only=True)
class LoadedDecoder:
    """The ``Decoder`` that every file of this room builds: a function of a request, and what it honours.

    ``defaults`` are fields of a request (``threads``, ``thread_type``, ``log_level``) that the decoder spec sets
    where a request leaves them None.
    """

    info: DecoderInfo
    run: Callable[[DecodeRequest], Frames]
    defaults: Mapping[str, Any] = field(default_factory=dict)
    devices: tuple[str, ...] = ("cpu",)

    def decode(self, request: DecodeRequest) -> Frames:
        """See ``Decoder.decode``."""
        unset = {name: value for name, value in self.defaults.items() if getattr(request, name) is None}
        asked = replace(request, **unset)
        if fault := self._not_honoured(asked):
            raise Unsupported(f"{self.info.name} {fault}")
        return self.run(asked)

    def _not_honoured(self, request: DecodeRequest) -> str:
        info = self.info
        by = "indices" if request.indices is not None else "timestamps"
        if by not in info.asks:
            return f"is not asked by {by}, only by {' and '.join(info.asks)}"
        if request.threads is not None and not info.threads_by:
            return "has no thread count that could be set"
        if request.thread_type is not None and request.thread_type not in info.thread_types:
            return f"has no thread type {request.thread_type}; it knows {', '.join(info.thread_types) or 'none'}"
        if request.log_level is not None and not info.log_levels:
            return "has no log level that could be set"
        if request.stop_after is not None and not info.stops_early:
            return "cannot be left early"
        if request.open_as not in info.opens_as:
            return f"cannot be given a file as {request.open_as!r}, only as {', '.join(info.opens_as)}"
        if not request.device.startswith(self.devices):
            return f"does not decode on {request.device}, only on {', '.join(self.devices)}"
        return ""


class UnseekableReader:
    """A binary file with nothing but ``read`` and ``name``.

    Every seek of a demuxer on it fails, once the clip is larger than the demuxer's I/O buffer (32 KiB in PyAV).
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.name = file.name

    def read(self, size: int = -1) -> bytes:
        """The next bytes, at most ``size``."""
        return self._file.read(size)


@contextmanager
def open_source(request: DecodeRequest) -> Iterator[Any]:
    """The file of ``request`` in the form ``open_as`` names: its path, a file object, or one without seek."""
    if request.open_as == "path":
        yield request.path
        return
    with open(request.path, "rb") as file:
        yield UnseekableReader(file) if request.open_as == "unseekable" else file
