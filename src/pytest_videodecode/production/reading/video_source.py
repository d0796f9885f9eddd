"""From what the caller calls a video (path, URL or file object) to an open clip with its thread pool capped."""

from __future__ import annotations

import io
import os
import re
import stat
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from typing import Any, Protocol

import av
from av.container import InputContainer
from av.stream import Disposition
from av.video.stream import VideoStream

from pytest_videodecode.production.errors import (
    NoVideoStreamError,
    ThreadSettingError,
    VideoNotFoundError,
    VideoSourceError,
)
from pytest_videodecode.production.reading.hardware import on_device
from pytest_videodecode.production.reading.open_clip import POOLED_CODEC, OpenClip, Opened

THREADS_VARIABLE = "OPENWAM_VIDEO_DECODE_THREADS"
DEFAULT_THREADS = 2
MAX_THREADS = 256  # libdav1d's own limit

PYAV_MAJOR = int(av.__version__.split(".")[0])

# Tags in another encoding than UTF-8 raise UnicodeDecodeError before PyAV 19, which has no such argument.
_OPEN_OPTIONS: Mapping[str, Any] = {"metadata_errors": "replace"} if PYAV_MAJOR < 19 else {}

#: Schemes left to FFmpeg, which reads them without Python in between; any other one is fsspec's.
FFMPEG_SCHEMES = frozenset(
    {"concat", "crypto", "data", "file", "ftp", "http", "https", "pipe", "rtmp", "rtmps", "rtp", "rtsp", "rtsps"}
    | {"srt", "srtp", "subfile", "tcp", "tls", "udp", "unix"}
)

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)(::|://)")

#: What tells whether a file is still the same one: device, inode, size, time of change (ns).
Identity = tuple[int, int, int, int]


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


def thread_count(threads: int | None) -> int | None:
    """The pool size that the argument ``threads`` asks for, the environment's where it is None.

    Raises:
        ThreadSettingError: no whole number from 0 to 256, or see ``thread_setting``.
    """
    if threads is None:
        return thread_setting(os.environ)
    if isinstance(threads, bool) or not isinstance(threads, int) or not 0 <= threads <= MAX_THREADS:
        raise ThreadSettingError(
            f"threads is {str(threads)[:40]}; give a whole number from 0 (FFmpeg's own default) to {MAX_THREADS}"
        )
    return threads or None


class BinaryReader(Protocol):
    """A binary file object; ``seek`` and ``tell`` are used where it has both."""

    def read(self, size: int, /) -> bytes:
        """Up to ``size`` bytes, none at the end."""


class VideoSource:
    """A video that can be opened, as often as ``seekable`` allows: once if False, any number of times if True.

    A file object is read from its beginning and never closed here. ``cacheable`` says whether an open clip of it can
    be kept: of files and URLs, whose ``identity`` is compared before it is used again (None of URLs, which have none).
    """

    def __init__(self, video: str | os.PathLike[str] | BinaryReader) -> None:
        self._target: Any
        self._url = False
        self.cacheable = False
        self.identity: Identity | None = None
        if isinstance(video, (str, os.PathLike)):
            self.name = path = os.fsdecode(video)
            self.seekable = True
            self._target = path
            try:
                status = os.stat(path)
            except (OSError, ValueError):  # ValueError: a null byte in the name
                scheme = _SCHEME.match(path)
                self.cacheable = scheme is not None
                self._url = scheme is not None and (scheme[2] == "::" or scheme[1].lower() not in FFMPEG_SCHEMES)
            else:
                # The full path, because FFmpeg takes the start of `take:1.mp4` for a protocol.
                self._target = os.path.abspath(path)
                self.cacheable = self.seekable = stat.S_ISREG(status.st_mode)
                self.identity = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        else:
            self.name = _name_of(video)
            self.seekable = _rewind(video)
            # PyAV must not try a seek that is known to fail: in mp4 and Matroska it loses the frames to come.
            self._target = video if self.seekable else _ReadOnly(video)

    @property
    def key(self) -> str:
        """What a cache knows it by: the full path, or the URL."""
        return str(self._target)

    def open(self, threads: int | None, device: str = "cpu") -> OpenClip:
        """The clip, open; the caller closes it.

        Of a libdav1d stream the thread count is set to ``threads`` unless that is None; no other stream is
        touched. PyAV calls the context ``libdav1d`` and shows slice threading and count 0 on it (15.1 to 19.0).

        Raises:
            NoVideoStreamError: there is no video stream, cover pictures aside, or FFmpeg has no decoder for it.
            VideoSourceError: a file object that cannot be rewound any more, a URL that fsspec cannot open.
            av.FFmpegError: no such file, or not a video that FFmpeg knows.
        """
        return OpenClip(partial(self._open, threads, device), self.seekable)

    def _open(self, threads: int | None, device: str) -> Opened:
        target, file = self._target, None
        if self._url:
            target = file = _open_url(self.name)
        elif self.seekable and not isinstance(target, str) and not _rewind(target):
            raise VideoSourceError(f"{self.name} cannot be read again from its start; open it anew")
        with ExitStack() as on_error:
            if file is not None:
                on_error.callback(file.close)
            container = on_error.enter_context(open_container(target, device))
            stream = self._first_video_stream(container)
            if threads is not None and stream.codec_context.name == POOLED_CODEC:
                stream.codec_context.thread_count = threads
            on_error.pop_all()
        return Opened(container, stream, file)

    def _first_video_stream(self, container: InputContainer) -> VideoStream:
        for stream in container.streams.video:
            if not stream.disposition & Disposition.attached_pic:
                break
        else:
            raise NoVideoStreamError(f"{self.name} has no video stream; give a file that has one")
        if not stream.codec_context:
            raise NoVideoStreamError(f"{self.name} has a video stream of a codec that FFmpeg cannot decode here")
        return stream


def open_container(target: Any, device: str) -> InputContainer:
    """``target`` opened for decoding on ``device``.

    Raises:
        FrameRequestError: a device that is not known.
        HardwareError: the device cannot be had, or does not decode this video.
        av.FFmpegError: no such file, or not a video that FFmpeg knows.
    """
    container: InputContainer = av.open(target, "r", **_OPEN_OPTIONS)
    return container if device == "cpu" else on_device(container, device)


def _open_url(url: str) -> Any:
    try:
        import fsspec
    except ImportError:
        raise VideoSourceError(f"{url} is read by fsspec, which is not installed; pip install fsspec") from None
    try:
        return fsspec.open(url, "rb").open()
    except FileNotFoundError as error:
        raise VideoNotFoundError(error.errno or 2, f"{url}: no such file") from None
    except (OSError, ValueError, ImportError) as error:
        said = " ".join(str(error).split())[:200]
        raise VideoSourceError(f"fsspec cannot open {url} ({type(error).__name__}: {said}); see its address") from None


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
