"""From what the caller calls a video (a path or a file object) to an open stream with its thread pool capped."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

import av
from av.container import InputContainer
from av.stream import Disposition
from av.video.stream import VideoStream

from pytest_videodecode.production.errors import NoVideoStreamError, ThreadSettingError, VideoSourceError

THREADS_VARIABLE = "OPENWAM_VIDEO_DECODE_THREADS"
DEFAULT_THREADS = 2
MAX_THREADS = 256  # libdav1d's own limit

PYAV_MAJOR = int(av.__version__.split(".")[0])

# Tags in another encoding than UTF-8 raise UnicodeDecodeError before PyAV 19, which has no such argument.
_OPEN_OPTIONS: Mapping[str, Any] = {"metadata_errors": "replace"} if PYAV_MAJOR < 19 else {}


def thread_setting(environ: Mapping[str, str]) -> int | None:
    """The size of libdav1d's pool that ``environ`` asks for; None to leave FFmpeg's default.

    Unset or blank is 2, ``0`` is None.

    Raises:
        ThreadSettingError: anything but ASCII digits, or more than 256.
    """
    value = environ.get(THREADS_VARIABLE, "")
    if not value.strip():
        return DEFAULT_THREADS
    digits = value.lstrip("0")
    if not (value.isascii() and value.isdigit()) or len(digits) > 3 or int(digits or "0") > MAX_THREADS:
        raise ThreadSettingError(
            f"{THREADS_VARIABLE}={value[:40]!r} is no thread count: set it to a whole number from 0 (FFmpeg's "
            f"own default) to {MAX_THREADS}, or unset it for {DEFAULT_THREADS}"
        )
    return int(value) or None


class BinaryReader(Protocol):
    """A binary file object; ``seek`` and ``tell`` are used where it has both."""

    def read(self, size: int, /) -> bytes:
        """Up to ``size`` bytes, none at the end."""


class VideoSource:
    """A video that can be opened, as often as ``seekable`` allows: once if False, any number of times if True.

    A file object is read from its beginning and never closed here.
    """

    def __init__(self, video: str | os.PathLike[str] | BinaryReader) -> None:
        self._target: Any
        if isinstance(video, (str, os.PathLike)):
            self.name = path = os.fsdecode(video)
            # The full path, because FFmpeg takes the start of `take:1.mp4` for a protocol.
            self._target = os.path.abspath(path) if os.path.exists(path) else path
            self.seekable = os.path.isfile(path) or not os.path.exists(path)
        else:
            self.name = _name_of(video)
            self.seekable = _rewind(video)
            # PyAV must not try a seek that is known to fail: in mp4 and Matroska it loses the frames to come.
            self._target = video if self.seekable else _ReadOnly(video)

    @contextmanager
    def open(self, threads: int | None) -> Iterator[tuple[InputContainer, VideoStream]]:
        """The container and its first video stream, cover pictures aside; closed on the way out.

        Of a libdav1d stream the thread count is set to ``threads`` unless that is None; no other stream is
        touched. PyAV calls the context ``libdav1d`` and shows slice threading and count 0 on it (15.1 to 19.0).

        Raises:
            NoVideoStreamError: there is no such stream, or FFmpeg has no decoder for it.
            VideoSourceError: a file object that cannot be rewound any more.
            av.FFmpegError: no such file, or not a video that FFmpeg knows.
        """
        if self.seekable and not isinstance(self._target, str) and not _rewind(self._target):
            raise VideoSourceError(f"{self.name} cannot be read again from its start; open it anew")
        with av.open(self._target, "r", **_OPEN_OPTIONS) as container:
            stream = self._first_video_stream(container)
            if threads is not None and stream.codec_context.name == "libdav1d":
                stream.codec_context.thread_count = threads
            yield container, stream

    def _first_video_stream(self, container: InputContainer) -> VideoStream:
        for stream in container.streams.video:
            if not stream.disposition & Disposition.attached_pic:
                break
        else:
            raise NoVideoStreamError(f"{self.name} has no video stream; give a file that has one")
        if not stream.codec_context:
            raise NoVideoStreamError(f"{self.name} has a video stream of a codec that FFmpeg cannot decode here")
        return stream


class _ReadOnly:
    """A file object with nothing but ``read``."""

    def __init__(self, file: Any) -> None:
        self.read = file.read


def _name_of(file: Any) -> str:
    name = getattr(file, "name", None)
    return name if isinstance(name, str) else f"<{type(file).__name__}>"


def _rewind(file: Any) -> bool:
    """Puts ``file`` at its start, or says that it cannot; an object that nothing can be read from is an error."""
    if getattr(file, "closed", False) is True:
        raise VideoSourceError(f"{_name_of(file)} is a closed file object; open it and keep it open")
    if isinstance(file, io.TextIOBase):
        raise VideoSourceError(f"{_name_of(file)} is opened as text; open it in binary mode ('rb')")
    if not callable(getattr(file, "read", None)) or (hasattr(file, "readable") and not file.readable()):
        raise VideoSourceError(
            f"cannot read a video from {_name_of(file)}; give a path or a file object opened in mode 'rb'"
        )
    if not all(callable(getattr(file, method, None)) for method in ("seek", "tell")):
        return False
    try:
        if hasattr(file, "seekable") and not file.seekable():
            return False
        file.seek(0)
    except (OSError, ValueError):
        return False
    return True
