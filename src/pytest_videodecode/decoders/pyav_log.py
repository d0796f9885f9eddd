"""PyAV's log level for the time of one decode, inside a worker."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

#: Least to most; the names are those of ``av.logging``.
LOG_LEVELS = ("PANIC", "FATAL", "ERROR", "WARNING", "INFO", "VERBOSE", "DEBUG")


@contextmanager
def log_level(name: str | None) -> Iterator[None]:
    """Set PyAV's log level by name, and restore what it was; None leaves it alone.

    With a level set, FFmpeg's threads take the GIL for every message they log: the setting under which closing a
    frame-threaded decoder deadlocks (PyAV 15 to 19).
    """
    if name is None:
        yield
        return
    import av.logging

    if name not in LOG_LEVELS:
        raise ValueError(f"log level {name!r} is unknown; known are {', '.join(LOG_LEVELS)}")
    before = av.logging.get_level()
    av.logging.set_level(getattr(av.logging, name))
    try:
        yield
    finally:
        av.logging.set_level(before)
