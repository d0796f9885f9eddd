"""Warm workers, one at a time per decoder, with the next one standing by when the one in use is in trouble."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from pytest_videodecode.decoders.spec import DecoderSpec
from pytest_videodecode.isolation.process import Limits, Worker
from pytest_videodecode.model import DecodeRequest, DecoderInfo, Hang, Outcome


class Workers:
    """Serves requests for any number of decoders, each from a warm worker process.

    A worker is started at a decoder's first use and kept. One that dies is replaced; a replacement is started as
    soon as a request has taken half of its limit, and is always kept ready for a decoder that has lost a worker.
    """

    def __init__(self, limits: Limits | None = None, journal_folder: Path | None = None) -> None:
        self._limits = limits or Limits()
        self._stack = ExitStack()
        self._journal = journal_folder or Path(self._stack.enter_context(tempfile.TemporaryDirectory())) / "journal"
        self._in_use: dict[str, Worker] = {}
        self._standing_by: dict[str, Worker] = {}

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def info(self, spec: DecoderSpec) -> DecoderInfo:
        """What the decoder says of itself. Raises as ``Worker`` does."""
        return self._worker(spec).info()

    def decode(self, spec: DecoderSpec, request: DecodeRequest, limit_s: float | None = None) -> Outcome:
        """One request, see ``Worker.decode``."""
        worker = self._worker(spec)
        outcome = worker.decode(request, limit_s, when_slow=lambda: self._stand_by(spec))
        if not worker.alive:
            self._stand_by(spec)
        return outcome

    def close(self) -> list[tuple[str, Hang]]:
        """End all workers; returns those that did not end by themselves."""
        hung = []
        for workers in (self._in_use, self._standing_by):
            while workers:
                name, worker = workers.popitem()
                if hang := worker.close():
                    hung.append((name, hang))
        self._stack.close()
        return hung

    def _worker(self, spec: DecoderSpec) -> Worker:
        name = str(spec)
        worker = self._in_use.get(name)
        if worker is not None and worker.alive:
            return worker
        if worker is not None:
            worker.close()
        replacement = self._standing_by.pop(name, None) or self._new(spec)
        self._in_use[name] = replacement
        if worker is not None:
            self._stand_by(spec)
        return replacement

    def _stand_by(self, spec: DecoderSpec) -> None:
        if str(spec) not in self._standing_by:
            self._standing_by[str(spec)] = self._new(spec)

    def _new(self, spec: DecoderSpec) -> Worker:
        return Worker(spec, self._limits, self._journal)
