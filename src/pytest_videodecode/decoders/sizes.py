"""The size of a clip's pictures, for functions that have to be told it."""

from __future__ import annotations

import os

from pytest_videodecode.errors import Unsupported

#: Told where no size can be found, so that the function under test is the one that says what is wrong.
NOMINAL = (128, 192)


class SizeFinder:
    """Remembers the size of the file last asked about."""

    def __init__(self) -> None:
        self._key: tuple[str, int, int] | None = None
        self._size = NOMINAL

    def __call__(self, path: str) -> tuple[int, int]:
        """Height and width of the first video stream of ``path``; ``NOMINAL`` for a file that shows none.

        Raises:
            Unsupported: without PyAV in this interpreter.
        """
        try:
            status = os.stat(path)
        except OSError:
            return NOMINAL
        key = (path, status.st_mtime_ns, status.st_size)
        if key != self._key:
            self._size, self._key = _first_video_size(path) or NOMINAL, key
        return self._size


def _first_video_size(path: str) -> tuple[int, int] | None:
    try:
        import av.container
    except ImportError:
        raise Unsupported("a function that takes height and width needs PyAV beside it: pip install av") from None
    try:
        # not av.open: what the worker observes there is the decoder's own doing
        with av.container.open(path, metadata_errors="ignore") as container:
            context = container.streams.video[0].codec_context
            return (context.height, context.width) if context.height and context.width else None
    except (av.FFmpegError, ValueError, LookupError, MemoryError):
        return None
