"""The worker's side of a timed run: decode samples in turn until the time is up, and say what that took.

Pixels are held against those of the first time: every sixteenth row of every decode, all of them at the rehearsal
and of the last sample. That, and whatever else is done between two decodes, is timed apart and is not charged to the
decoder.
"""

from __future__ import annotations

import hashlib
import os
import resource
import time
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_videodecode.decoders.base import Decoder
from pytest_videodecode.errors import DecoderContractError
from pytest_videodecode.isolation.census import threads_and_memory
from pytest_videodecode.isolation.heartbeat import Cost, Heartbeat
from pytest_videodecode.isolation.observe import counting_decodes
from pytest_videodecode.isolation.protocol import Go, Sample, SeatOrder
from pytest_videodecode.measurement import Seat

#: Concealed damage and wrong frames cover macroblocks or more, which are sixteen rows high.
_ROWS = 16

_MAX_REASON = 500

Pixels = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class _Known:
    """The pixels of a sample as they were the first time; ``decoded`` is how many frames the codec gave for them."""

    digest: str
    rows: list[bytes]
    decoded: int | None


@dataclass(slots=True)
class _Tally:
    """What a timed run adds up as it goes."""

    latencies: list[float] = field(default_factory=list)
    frames: int = 0
    unsteady: bool = False
    checks_cpu_s: float = 0.0
    checks_wall_s: float = 0.0


class Seated:
    """One decoder on one seat."""

    def __init__(self, decoder: Decoder, order: SeatOrder, heartbeat: Heartbeat) -> None:
        self._decoder = decoder
        self._order = order
        self._heartbeat = heartbeat
        self._known: dict[str, _Known] = {}
        self._done = 0
        self._threads_peak = 0

    def rehearse(self) -> Seat:
        """Decode every sample once where that was ordered; a seat that is not ``lost`` is ready."""
        try:
            if self._order.rehearse:
                for sample in self._order.samples:
                    with counting_decodes() as count:
                        pixels = self._decode(sample)
                    self._learn(sample, pixels, count.frames)
                    self._threads_peak = max(self._threads_peak, count.threads_peak)
                    self._progress()
        except (Exception, SystemExit) as error:
            return self._lost(sample, error)
        self._look_at_threads()
        return Seat(seat=self._order.seat, threads_peak=self._threads_peak, digests=self._digests())

    def go(self, go: Go) -> Seat:
        """Decode in turn, from the first sample on, until the time is up."""
        tally = _Tally()
        _reset_rss_peak()
        beating, before, start = self._heartbeat.cost, _used(), time.perf_counter()
        end = start
        for sample in cycle(self._order.samples):
            begun = end
            try:
                pixels = self._decode(sample)
                end = time.perf_counter()
                checking = time.thread_time()
                tally.latencies.append(end - begun)
                self._check(sample, pixels, tally)
            except (Exception, SystemExit) as error:
                return self._lost(sample, error)
            self._progress()
            tally.checks_cpu_s += time.thread_time() - checking
            checked = time.perf_counter()
            tally.checks_wall_s += checked - end
            end = checked
            if end - start >= go.seconds or len(tally.latencies) == go.most:
                break
        used, beaten = _used() - before, self._heartbeat.cost - beating
        rss_peak = _rss_peak()
        self._look_at_threads()
        tally.unsteady |= _digest(pixels) != self._known[sample.name].digest
        measuring_s = tally.checks_cpu_s + beaten.cpu_s
        return Seat(
            seat=self._order.seat,
            samples=len(tally.latencies),
            frames=tally.frames,
            wall_s=end - start - tally.checks_wall_s,
            cpu_s=max(0.0, used.cpu_s - measuring_s),
            measuring_s=measuring_s,
            voluntary_switches=max(0, used.voluntary - beaten.voluntary),
            involuntary_switches=max(0, used.involuntary - beaten.involuntary),
            threads_peak=self._threads_peak,
            rss_peak=rss_peak,
            decoded_frames=self._decoded(len(tally.latencies)),
            latencies_s=tuple(tally.latencies),
            digests=self._digests(),
            unsteady=tally.unsteady,
        )

    def _decode(self, sample: Sample) -> list[Pixels]:
        """The pixels of each request, uint8 (N,H,W,3), as one batch each, which is what a training job works with."""
        batches = []
        for request in sample.requests:
            frames: Any = self._decoder.decode(request)
            if not isinstance(frames, np.ndarray):
                pictures = list(frames)
                frames = np.stack(pictures) if pictures else np.empty((0, 0, 0, 3), np.uint8)
            if len(frames) != request.asked:
                raise DecoderContractError(f"{len(frames)} frames came of {request.asked} asked")
            batches.append(frames)
        return batches

    def _check(self, sample: Sample, pixels: list[Pixels], tally: _Tally) -> None:
        known = self._known.get(sample.name) or self._learn(sample, pixels, None)
        tally.unsteady |= _rows(pixels) != known.rows
        tally.frames += sum(map(len, pixels))

    def _learn(self, sample: Sample, pixels: list[Pixels], decoded: int | None) -> _Known:
        known = _Known(_digest(pixels), _rows(pixels), decoded)
        return self._known.setdefault(sample.name, known)

    def _decoded(self, samples: int) -> float | None:
        """Frames given out for ``samples`` samples, as the rehearsal's were on average."""
        counts = [known.decoded for known in self._known.values() if known.decoded is not None]
        return samples * sum(counts) / len(counts) if len(counts) == len(self._known) else None

    def _progress(self) -> None:
        self._done += 1
        self._heartbeat.sample_done(self._done)

    def _look_at_threads(self) -> None:
        self._threads_peak = max(self._threads_peak, threads_and_memory(os.getpid())[0])

    def _digests(self) -> dict[str, str]:
        return {name: known.digest for name, known in self._known.items()}

    def _lost(self, sample: Sample, error: BaseException) -> Seat:
        words = " ".join(f"{type(error).__name__}: {error}".split())[:_MAX_REASON]
        return Seat(seat=self._order.seat, lost=f"{words} (sample {sample.name})")


def _used() -> Cost:
    """What this process and the children that it waited for have used; threads that have ended count too."""
    return Cost.of(resource.RUSAGE_SELF) + Cost.of(resource.RUSAGE_CHILDREN)


def _rows(pixels: list[Pixels]) -> list[bytes]:
    return [batch[:, ::_ROWS].tobytes() for batch in pixels]


def _digest(pixels: list[Pixels]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for batch in pixels:
        digest.update(str(batch.shape).encode())
        digest.update(np.ascontiguousarray(batch).data)
    return digest.hexdigest()


def _reset_rss_peak() -> None:
    # Linux: proc(5), clear_refs; where it may not be written, the peak is that of the whole life of the process
    with suppress(OSError):
        fd = os.open("/proc/self/clear_refs", os.O_WRONLY)
        try:
            os.write(fd, b"5")
        finally:
            os.close(fd)


def _rss_peak() -> int:
    """Bytes."""
    try:
        with open("/proc/self/status", "rb") as status:
            for line in status:
                if line.startswith(b"VmHWM:"):
                    return int(line.split()[1]) << 10
    except OSError:
        pass
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak)  # of other systems
