"""Looking at a decode from inside the worker, and planting a failing seek.

Patches live for one request and only in a worker process: a class-level patch of PyAV in the test process would
leak into the user's other tests.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pytest_videodecode.isolation.census import threads_and_memory
from pytest_videodecode.model import DecodeRequest, Observed, StreamSeen


class Observer:
    """Counts seeks and keeps the containers that PyAV opened, to read their codec contexts afterwards."""

    def __init__(self, *, fail_seeks: bool) -> None:
        self.fail_seeks = fail_seeks
        self.seeks = 0
        self.failed_seeks = 0
        self.reason = ""
        self._opened: list[tuple[Any, int, str]] = []
        self._saw_any = False

    def opened(self, container: Any) -> None:
        """Remember the video streams of ``container`` as PyAV made them, before the decoder touches them."""
        self._saw_any = True
        for stream in container.streams.video:
            context = stream.codec_context
            if context is not None:
                self._opened.append((context, context.thread_count, context.thread_type.name))

    def wrap_open(
        self, original: Callable[..., Any], refusal: type[Exception], *, stand_in: bool
    ) -> Callable[..., Any]:
        """``av.open`` that remembers what it opened; ``stand_in`` has it return a stand-in that seeks through us."""

        def open_(*args: Any, **kwargs: Any) -> Any:
            container = original(*args, **kwargs)
            if type(container).__name__ != "InputContainer":
                return container
            self.opened(container)
            return _StandIn(container, self.wrap_seek(type(container).seek, refusal)) if stand_in else container

        return open_

    def wrap_seek(self, original: Callable[..., Any], refusal: type[Exception]) -> Callable[..., Any]:
        """``InputContainer.seek`` that is counted, and refused where that is the fault to plant."""

        def seek(container: Any, *args: Any, **kwargs: Any) -> Any:
            self.seeks += 1
            try:
                if self.fail_seeks:
                    raise refusal(1, "seek refused by the test harness")
                return original(container, *args, **kwargs)
            except Exception:
                self.failed_seeks += 1
                raise

        return seek

    def result(self) -> Observed:
        """What was seen, with the codec contexts as the decode left them; lets go of the contexts."""
        streams = tuple(
            StreamSeen(
                codec=context.codec.canonical_name,
                decoder=context.codec.name,
                opened_thread_count=count,
                opened_thread_type=kind,
                thread_count=context.thread_count,
                thread_type=context.thread_type.name,
            )
            for context, count, kind in self._opened
        )
        self._opened.clear()  # a codec context that is kept keeps its threads alive
        reason = self.reason or ("" if self._saw_any else "the decoder opened no file through av.open")
        return Observed(streams=streams, seeks=self.seeks, failed_seeks=self.failed_seeks, reason=reason)


@contextmanager
def observing(request: DecodeRequest) -> Iterator[Observer | None]:
    """Plants the faults of ``request`` and yields an observer where the request asked for one."""
    if not request.observe and not request.faults:
        yield None
        return
    observer = Observer(fail_seeks="seek" in request.faults)
    try:
        import av
        import av.container
    except ImportError:
        observer.reason = "PyAV is not installed in the worker's interpreter"
        yield observer
        return
    original_open, container_class = av.open, av.container.InputContainer
    original_seek, refusal = container_class.seek, av.error.PermissionError
    try:
        container_class.seek = observer.wrap_seek(original_seek, refusal)  # type: ignore[method-assign]
        patched = True
    except TypeError:  # PyAV 15: the class cannot be changed
        patched = False
    av.open = observer.wrap_open(original_open, refusal, stand_in=not patched)
    try:
        yield observer
    finally:
        av.open = original_open
        if patched:
            container_class.seek = original_seek  # type: ignore[method-assign]


class DecodeCount:
    """What PyAV's codec contexts did: frames that they gave out, and the most OS threads there were meanwhile."""

    def __init__(self) -> None:
        self.frames: int | None = None  # None: nothing was seen
        self.threads_peak = 0

    def decoded(self, frames: int) -> None:
        """One call has given out so many frames; the decoder's pool is there at this moment."""
        self.frames = (self.frames or 0) + frames
        self.threads_peak = max(self.threads_peak, threads_and_memory(os.getpid())[0])


@contextmanager
def counting_decodes() -> Iterator[DecodeCount]:
    """Counts while the ``with`` lasts, at a cost that has no place in a timed run.

    Every way of PyAV to decode ends in ``VideoCodecContext.decode``. Nothing is seen where that cannot be replaced:
    PyAV 15 lets no class be changed, and other libraries decode without PyAV.
    """
    count = DecodeCount()
    module = sys.modules.get("av.video.codeccontext")
    if module is None:
        yield count
        return
    kind, original = module.VideoCodecContext, module.VideoCodecContext.decode

    def decode(self: Any, *args: Any, **kwargs: Any) -> Any:
        frames = original(self, *args, **kwargs)
        count.decoded(len(frames))
        return frames

    try:
        kind.decode = decode
    except TypeError:
        yield count
        return
    try:
        yield count
    finally:
        kind.decode = original


class _StandIn:
    """A container but for ``seek``; for a decoder that only calls it, there is no difference."""

    def __init__(self, container: Any, seek: Callable[..., Any]) -> None:
        self._container = container
        self._seek = seek

    def __getattr__(self, name: str) -> Any:
        return getattr(self._container, name)

    def __enter__(self) -> _StandIn:
        return self

    def __exit__(self, *error: object) -> None:
        self._container.close()

    def seek(self, *args: Any, **kwargs: Any) -> Any:
        """The container's own, counted or refused."""
        return self._seek(self._container, *args, **kwargs)
