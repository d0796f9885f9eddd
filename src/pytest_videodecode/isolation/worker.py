"""The child: loads one decoder, then serves one request, or one seat, after another until its parent hangs up.

Nothing here tries to survive a bad decode. The parent watches from outside, and kills.
"""

from __future__ import annotations

import ctypes
import faulthandler
import json
import mmap
import os
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from pytest_videodecode.decoders import registry
from pytest_videodecode.decoders.base import Decoder
from pytest_videodecode.decoders.spec import parse
from pytest_videodecode.errors import DecoderContractError
from pytest_videodecode.isolation import protocol
from pytest_videodecode.isolation.census import Snapshot, snapshot
from pytest_videodecode.isolation.heartbeat import SEATED_S, Heartbeat
from pytest_videodecode.isolation.observe import observing
from pytest_videodecode.isolation.seat import Seated
from pytest_videodecode.jsonform import from_json, to_json
from pytest_videodecode.model import Census, DecodeRequest, ErrorInfo, Outcome, OutcomeKind

#: The parent sends this at a request's limit; faulthandler answers it in C, without the GIL.
STACKS_SIGNAL = signal.SIGUSR1

_PR_SET_PDEATHSIG = 1


def main(fds: Sequence[int]) -> None:
    """Serve on the file descriptors given: requests, replies, shared pixels, stacks."""
    requests_fd, replies_fd, pixels_fd, stacks_fd = fds
    for fd in fds:  # a process that the decoder starts must not keep our pipes open
        os.set_inheritable(fd, False)
    _die_with_parent()
    faulthandler.enable()
    faulthandler.register(STACKS_SIGNAL, file=stacks_fd, all_threads=True)
    pixels = SharedPixels(pixels_fd)
    heartbeat = Heartbeat(pixels_fd)

    order = protocol.read_message(requests_fd)
    if order is None:
        return
    sys.path[:] = order["sys_path"] or sys.path
    try:
        decoder = registry.load(parse(order["decoder"]))
    except Exception as error:
        _send(replies_fd, protocol.Hello(error=error_info(error)))
        return
    _send(replies_fd, protocol.Hello(info=decoder.info))
    alive: list[Any] = []
    seat: Seated | None = None
    while (message := protocol.read_message(requests_fd)) is not None:
        if "seat" in message or "go" in message:
            heartbeat.set_period(SEATED_S)
            if "seat" in message:
                seat = Seated(decoder, from_json(protocol.SeatOrder, message["seat"]), heartbeat)
            assert seat is not None, "a seat goes when it is ready"
            answer = seat.rehearse() if "seat" in message else seat.go(from_json(protocol.Go, message["go"]))
            heartbeat.set_period(None)  # it rests: other seats may be timed now
            _send(replies_fd, answer)
            continue
        heartbeat.set_period(protocol.HEARTBEAT_S)
        request = from_json(DecodeRequest, message)
        _send(replies_fd, serve(decoder, request, pixels, alive))
        if request.then_exit:
            return
        alive.clear()
    heartbeat.set_period(protocol.HEARTBEAT_S)  # ending is watched too


def serve(decoder: Decoder, request: DecodeRequest, pixels: SharedPixels, alive: list[Any]) -> protocol.Reply:
    """One request, from the decoder to the shared pixels; whatever it raises becomes part of the outcome.

    Before a ``then_exit``, what the decoder returned or raised goes into ``alive``, and with it what it holds.
    """
    pixels.clear()
    error: BaseException | None = None
    observed = None
    before = snapshot()
    try:
        with observing(request) as observer:
            try:
                decoded = decoder.decode(request)
                if request.then_exit:
                    alive.append(decoded)
                _collect(decoded, pixels, request.stop_after if request.then_exit else None)
                del decoded
            finally:
                observed = observer.result() if observer else None
    except (Exception, SystemExit) as caught:
        error = caught
    info = error_info(error) if error else None
    out_of_memory = isinstance(error, MemoryError)
    if request.then_exit:
        alive.append(error)
    error = None  # its traceback holds the decoder's frames, and those its containers
    after = snapshot()
    expected = request.asked if request.stop_after is None else min(request.stop_after, request.asked)
    outcome = Outcome(
        kind=_kind(len(pixels), expected, failed=info is not None, out_of_memory=out_of_memory),
        count=len(pixels),
        error=info,
        census=_census(before, after),
        observed=observed,
    )
    return protocol.Reply(outcome=outcome, shape=pixels.shape)


class SharedPixels:
    """The frames of one reply, written where the parent reads them."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._map: mmap.mmap | None = mmap.mmap(fd, 0)  # has a descriptor of its own: none must be new in a census
        self._frame: tuple[int, ...] = ()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def shape(self) -> tuple[int, ...]:
        """(N,H,W,3), or empty while there is no frame."""
        return (self._count, *self._frame) if self._count else ()

    def clear(self) -> None:
        self._count, self._frame = 0, ()

    def extend(self, frames: np.ndarray[Any, np.dtype[np.uint8]]) -> None:
        """Append frames (N,H,W,3)."""
        if not self._count:
            self._frame = frames.shape[1:]
        elif frames.shape[1:] != self._frame:
            raise DecoderContractError(
                f"picture {self._count} is {_size(frames.shape[1:])}, those before are {_size(self._frame)}; "
                "return pictures of one size"
            )
        start = protocol.HEADER + self._count * (frames.nbytes // len(frames))
        room = self._room(start + frames.nbytes)
        room[start : start + frames.nbytes] = np.ascontiguousarray(frames).data.cast("B")
        self._count += len(frames)

    def _room(self, size: int) -> mmap.mmap:
        if size > protocol.MAX_PIXELS:
            raise DecoderContractError(
                f"more than {protocol.MAX_PIXELS >> 20} MiB of pixels in one reply; ask for fewer frames"
            )
        if os.fstat(self._fd).st_size < size:
            os.ftruncate(self._fd, max(size, protocol.HEADER + (1 << 22)))
            self._map = None
        if self._map is None or len(self._map) < size:
            self._map = mmap.mmap(self._fd, 0)
        return self._map


def _collect(decoded: Any, pixels: SharedPixels, stop_after: int | None) -> None:
    """Move frames over; after ``stop_after`` of them an iterator is left where it is, its file open."""
    if isinstance(decoded, np.ndarray):
        if len(decoded):
            pixels.extend(decoded)
    elif isinstance(decoded, Iterator):
        for frame in islice(decoded, stop_after):
            pixels.extend(frame[np.newaxis])
    else:
        raise DecoderContractError(f"the decoder's adapter returned a {type(decoded).__name__}")


def _kind(count: int, expected: int, *, failed: bool, out_of_memory: bool) -> OutcomeKind:
    if out_of_memory:
        return OutcomeKind.OUT_OF_MEMORY
    if failed:
        return OutcomeKind.PARTIAL if count else OutcomeKind.ERROR
    return OutcomeKind.FRAMES if count == expected else OutcomeKind.SILENT_LOSS


def _census(before: Snapshot, after: Snapshot) -> Census:
    return Census(
        wall_s=after.wall_s - before.wall_s,
        cpu_s=after.cpu_s - before.cpu_s,
        threads_before=before.threads,
        threads_after=after.threads,
        fds_before=before.fds,
        fds_after=after.fds,
        rss_before=before.rss,
        rss_after=after.rss,
        voluntary_switches=after.voluntary_switches - before.voluntary_switches,
        involuntary_switches=after.involuntary_switches - before.involuntary_switches,
    )


def error_info(error: BaseException) -> ErrorInfo:
    """``error`` in words that travel: its type, its classes by qualified name, a bounded traceback."""
    bases = tuple(f"{cls.__module__}.{cls.__qualname__}" for cls in type(error).__mro__[:-1])
    lines = "".join(traceback.format_exception(error, limit=-8))
    return ErrorInfo(type=type(error).__name__, message=str(error)[:2000], bases=bases, traceback=lines[-8000:])


def _send(fd: int, message: Any) -> None:
    protocol.write_message(fd, json.dumps(to_json(message, brief=True)).encode())


def _size(shape: tuple[int, ...]) -> str:
    return "x".join(str(part) for part in shape)


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if str(os.getppid()) != os.environ[protocol.PARENT]:
            sys.exit("the parent was gone before the worker had started")
