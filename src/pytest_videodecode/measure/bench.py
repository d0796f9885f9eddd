"""Warm seats of several decoders at once, so that their rounds can be interleaved at no cost of starting."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.decoders.spec import DecoderSpec, parse
from pytest_videodecode.errors import MeasurementError
from pytest_videodecode.isolation.process import Limits, Worker
from pytest_videodecode.isolation.protocol import Go, SeatOrder
from pytest_videodecode.measure.capacity import require_files, require_memory
from pytest_videodecode.measure.sample import Samples, SampleShape, request, require_right
from pytest_videodecode.measure.seating import Row, SeatLimits
from pytest_videodecode.measure.split import measure_split
from pytest_videodecode.measure.total import add_up
from pytest_videodecode.measurement import Measurement, Seat, Split
from pytest_videodecode.model import DecoderInfo
from pytest_videodecode.options import Settings


@dataclass(slots=True)
class _Group:
    """The seats of one decoder."""

    decoder: str
    spec: DecoderSpec
    info: DecoderInfo
    workers: dict[int, Worker]
    row: Row
    ready: dict[int, Seat]


class Bench:
    """``processes`` seats for each of ``decoders`` on clips of ``codec``; at any time those of one decoder decode.

    All workers are started here, one decoded sample of each decoder is held against the truth, and every seat
    rehearses its samples. A decoder named twice gets seats of its own each time; ``round`` takes its place in
    ``decoders`` then. ``first_seat`` is the number of the first seat, for seats that are spread over several
    processes. Close it, or use it as a context.

    Raises:
        MeasurementError: no seats, more of them than memory or open files allow, wrong frames, or every seat lost.
        Unsupported, DecoderSpecError, WorkerError: a decoder that cannot be started.
        ClipError, FormError, Unsupported: no clips of that codec.
    """

    def __init__(
        self,
        decoders: Sequence[str],
        codec: str,
        processes: int,
        settings: Settings,
        *,
        cache: ClipCache | None = None,
        shape: SampleShape | None = None,
        first_seat: int = 0,
    ) -> None:
        if processes < 1 or not decoders:
            raise MeasurementError(f"{processes} seats for {len(decoders)} decoders; give one of each at least")
        self.decoders = tuple(decoders)
        self.codec = codec
        self.processes = processes
        self._settings = settings
        self._numbers = range(first_seat, first_seat + processes)
        self._limits = Limits(decode_s=settings.timeout, memory=settings.memory << 20)
        require_files(processes * len(decoders))
        self.samples = Samples(codec, shape or SampleShape(), cache or ClipCache(), settings.seed)
        with ExitStack() as stack:
            scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="videodecode-"))
            self._journal = Path(scratch, "journal")
            self._groups: list[_Group] = []
            for decoder in decoders:
                self._groups.append(self._seat(decoder, stack))
            self._stack = stack.pop_all()

    def __enter__(self) -> Bench:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all workers."""
        self._stack.close()

    def info(self, decoder: str | int) -> DecoderInfo:
        """What a decoder says of itself."""
        return self._group(decoder).info

    def round(self, decoder: str | int, seconds: float, *, samples: int | None = None) -> Measurement:
        """All seats of ``decoder`` (as it was named, or its place in ``decoders``) decode for ``seconds``.

        ``samples`` ends a seat's time when it has decoded so many: the same work each time. Every round begins with
        the same sample. A seat that was lost in an earlier round has a new worker.

        Raises:
            MeasurementError: where every seat was lost.
        """
        group = self._group(decoder)
        return self._add_up(group, self.seats(decoder, seconds, samples=samples), seconds)

    def seats(
        self,
        decoder: str | int,
        seconds: float,
        *,
        samples: int | None = None,
        meet: Callable[[], None] = lambda: None,
    ) -> list[Seat]:
        """As ``round``, each seat by itself; ``meet`` is called when all are ready, and returns when all may go."""
        group = self._group(decoder)
        self._replace_lost(group)
        meet()
        done = group.row.go(Go(seconds=seconds, most=samples), group.ready)
        group.ready |= {number: seat for number, seat in done.items() if seat.lost}
        return [done[number] for number in self._numbers]

    def split(self, decoder: str | int) -> Split:
        """Where the time of one stream goes, in a process that decodes alone; see ``Split``."""
        group = self._group(decoder)
        with ExitStack() as stack:
            worker = self._worker(group.spec, stack)
            row = Row({0: worker}, self._seat_limits)
            return measure_split(group.decoder, row, worker.info(), self.samples)

    @property
    def _seat_limits(self) -> SeatLimits:
        return SeatLimits(sample_s=self._settings.timeout, memory=self._limits.memory)

    def _group(self, decoder: str | int) -> _Group:
        return self._groups[self.decoders.index(decoder) if isinstance(decoder, str) else decoder]

    def _seat(self, decoder: str, stack: ExitStack) -> _Group:
        spec = parse(decoder).with_threads_env(self._settings.threads_env)
        first, *others = self._numbers
        workers = {first: self._worker(spec, stack)}
        info = replace(workers[first].info(), name=decoder)
        self._require_right(decoder, workers[first], info)
        require_memory(decoder, self.processes, workers[first].look().memory)
        workers |= {number: self._worker(spec, stack) for number in others}
        group = _Group(decoder, spec, info, workers, Row(workers, self._seat_limits), {})
        self._get_ready(group, self._numbers)
        if all(seat.lost for seat in group.ready.values()):
            self._add_up(group, list(group.ready.values()), 0)
        return group

    def _worker(self, spec: DecoderSpec, stack: ExitStack) -> Worker:
        worker = Worker(spec, self._limits, self._journal)
        stack.callback(worker.close)
        stack.callback(worker.kill)  # how a process ends is not what is measured here
        return worker

    def _require_right(self, decoder: str, worker: Worker, info: DecoderInfo) -> None:
        for clip, frames in self.samples.proof():
            require_right(decoder, clip, frames, worker.decode(request(clip, frames, info)))

    def _get_ready(self, group: _Group, numbers: Sequence[int]) -> None:
        orders = {
            number: SeatOrder(seat=number, samples=self.samples.of_seat(number, group.info)) for number in numbers
        }
        group.ready |= group.row.get_ready(orders)

    def _replace_lost(self, group: _Group) -> None:
        lost = [number for number, seat in group.ready.items() if seat.lost]
        for number in lost:
            if not group.workers[number].alive:
                group.workers[number] = self._worker(group.spec, self._stack)
        if lost:
            self._get_ready(group, lost)

    def _add_up(self, group: _Group, seats: Sequence[Seat], seconds: float) -> Measurement:
        return add_up(
            seats,
            decoder=group.decoder,
            codec=self.codec,
            sample=self.samples.shape.name,
            seconds=seconds,
            versions=group.info.versions,
        )
