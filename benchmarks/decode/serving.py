"""The inside of a peer's process: opens the peer that it is told, and answers."""

from __future__ import annotations

import hashlib
import re
import resource
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.decode import peers
from benchmarks.decode.cells import Request
from benchmarks.decode.peer import Frames, Missing, Peer

#: A process that has used less CPU than this in one pause (s) has come to rest.
_AT_REST_S = 1e-4
_PAUSE_S = 3e-4
_LONGEST_REST_S = 0.05

_LIBRARY = re.compile(r"lib(avcodec|dav1d)\b[^/]*\.so[.\d]*")


@dataclass(frozen=True, slots=True)
class Opened:
    """What a peer says of itself once it is open: its note, and the decoder libraries in its process."""

    note: str
    libraries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """What a process did in a stretch of time; times in seconds, CPU and switches of all its threads."""

    samples: int
    wall_s: float
    cpu_s: float
    switches: int


def serve(connection: Connection) -> None:
    """Answers what comes through ``connection`` until it is closed at the other end."""
    peer: Peer | None = None
    while True:
        try:
            verb, *given = connection.recv()
        except EOFError:
            return
        try:
            if verb in ("open", "close") and peer is not None:
                peer.close()
                peer = None
            answer: Any = None
            if verb == "open":
                peer = peers.make(*given)
                answer = Opened(peer.note, tuple(_libraries()))
            elif verb == "frames":
                answer = _decode(peer, *given)
            elif verb == "digest":
                answer = _digest(_decode(peer, *given))
            elif verb == "timed":
                answer = _timed(peer, *given)
            elif verb == "run":
                answer = _run(peer, *given)
        except Missing as reason:
            answer = reason
        except Exception as error:  # a peer's own fault must cost its row, not the run
            answer = Missing(f"{type(error).__name__}: {' '.join(str(error).split())[:160]}")
        connection.send(answer)


def _decode(peer: Any, request: Request) -> list[Frames]:
    peer.prepare(request)
    return [np.ascontiguousarray(peer.decode(path, indices)) for path, indices in request]


def _timed(peer: Any, request: Request) -> tuple[float, float]:
    """What a pool still does when the call has returned is waited for: it is CPU of this peer, not of the next."""
    peer.prepare(request)
    cpu, begin = time.process_time(), time.perf_counter()
    for path, indices in request:
        peer.decode(path, indices)
    wall = time.perf_counter() - begin
    until = begin + wall + _LONGEST_REST_S
    now = time.process_time()
    while True:
        time.sleep(_PAUSE_S)
        before, now = now, time.process_time()
        if now - before < _AT_REST_S or time.perf_counter() > until:
            return wall, before - cpu


def _digest(frames: Sequence[Frames]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for each in frames:
        digest.update(each.data)
    return digest.hexdigest()


def _run(peer: Any, asked: Sequence[Request], begin_at: float, seconds: float) -> Run:
    """From the moment ``begin_at`` on time.monotonic, which on Linux is one clock for all processes."""
    time.sleep(max(0.0, begin_at - time.monotonic()))
    usage = resource.getrusage(resource.RUSAGE_SELF)
    begin = time.perf_counter()
    samples = 0
    while time.perf_counter() - begin < seconds:
        for path, indices in asked[samples % len(asked)]:
            peer.decode(path, indices)
        samples += 1
    wall = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - usage.ru_utime - usage.ru_stime
    return Run(samples, wall, cpu, after.ru_nvcsw + after.ru_nivcsw - usage.ru_nvcsw - usage.ru_nivcsw)


def _libraries() -> Iterator[str]:
    try:
        maps = Path("/proc/self/maps").read_text(encoding="utf-8")
    except OSError:
        return  # elsewhere than on Linux it is not said
    files = {Path(line.split()[-1]).name for line in maps.splitlines() if "/" in line}
    yield from sorted(file for file in files if _LIBRARY.match(file))
