"""What the reader raises, under one root.

Each class is another error too, so that code written against ``ValueError``, ``IndexError``, ``FileNotFoundError`` or
``av.FFmpegError`` keeps working. All arguments are in ``args`` or have defaults: such exceptions survive pickling,
and with it the way back from a worker process.
"""

from __future__ import annotations

import math

import av


class VideoReadError(Exception):
    """Root of all errors of the reader."""


class ThreadSettingError(VideoReadError, ValueError):
    """A thread count, given or from the environment, that is none."""


class FrameRequestError(VideoReadError, ValueError):
    """A request that asks for nothing, for two things at once, or with values that mean nothing."""


class OutputBufferError(VideoReadError, ValueError):
    """``out=`` is not the memory that the answer fits into."""


class VideoSourceError(VideoReadError, ValueError):
    """What was given as the video is neither a path nor a usable binary file object or URL."""


class NoVideoStreamError(VideoReadError, ValueError):
    """The file holds no video stream that can be decoded here."""


class FrameConversionError(VideoReadError, ValueError):
    """FFmpeg decoded a frame and refuses to convert it to RGB."""


class DecoderCacheError(VideoReadError, ValueError):
    """A cache that cannot be used: closed, or made with a size that is none."""


class HardwareError(VideoReadError, RuntimeError):
    """``device="cuda"`` cannot be had: no CUDA in PyAV, no device or driver, or a stream that it does not decode."""


class FrameIndexError(VideoReadError, IndexError):
    """An index that no frame has. ``frames`` is how many there are, None where the file was not looked at."""

    def __init__(self, message: str, index: int = 0, frames: int | None = None, file: str = "") -> None:
        super().__init__(message)
        self.index = index
        self.frames = frames
        self.file = file


class FrameTimestampError(VideoReadError, ValueError):
    """A timestamp with no frame within the tolerance.

    ``timestamp`` (s) is the worst of those asked, ``distance`` (s) how far its nearest frame is: infinite where
    no frame has a time.
    """

    def __init__(self, message: str, timestamp: float = math.nan, distance: float = math.inf, file: str = "") -> None:
        super().__init__(message)
        self.timestamp = timestamp
        self.distance = distance
        self.file = file


class VideoFFmpegError(VideoReadError, av.FFmpegError):
    """FFmpeg gave up, for a reason that has no class of its own here; ``errno`` and ``strerror`` say which."""


class VideoNotFoundError(VideoReadError, av.error.FileNotFoundError):
    """There is no such file."""


class VideoPermissionError(VideoReadError, av.error.PermissionError):
    """The file may not be read."""


class VideoIsFolderError(VideoReadError, av.error.IsADirectoryError):
    """The path is a folder."""


class VideoMemoryError(VideoReadError, av.error.MemoryError):
    """FFmpeg could not have, or refused to take, as much memory as the file asks for."""


class DamagedVideoError(VideoReadError, av.error.InvalidDataError):
    """The file is no video that FFmpeg knows, or is damaged before the last frame asked."""


_TYPED: tuple[type[VideoReadError], ...] = (
    VideoNotFoundError,
    VideoPermissionError,
    VideoIsFolderError,
    VideoMemoryError,
    DamagedVideoError,
)


def typed(error: av.FFmpegError, doing: str) -> VideoReadError:
    """``error`` as one of this module, its message saying what was being done.

    What is one already (of a nested call) is returned as it is.
    """
    if isinstance(error, VideoReadError):
        return error
    kind = next((kind for kind in _TYPED if isinstance(error, kind.__bases__[1])), VideoFFmpegError)
    return kind(error.errno, f"{error.strerror}, {doing}")
