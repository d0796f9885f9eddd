"""What the reader raises by intent, under one root; damage that FFmpeg finds stays an ``av.FFmpegError``.

Each class is a builtin error too, so that code written against ``ValueError`` or ``IndexError`` keeps working.
The message is the first argument and the rest have defaults: such exceptions survive pickling, and with it the
way back from a worker process.
"""

from __future__ import annotations

import math


class VideoReadError(Exception):
    """Root of all errors that the reader raises itself."""


class ThreadSettingError(VideoReadError, ValueError):
    """The environment variable of the decode threads holds something that is no thread count."""


class FrameRequestError(VideoReadError, ValueError):
    """A request that asks for nothing, for two things at once, or with values that are no numbers."""


class VideoSourceError(VideoReadError, ValueError):
    """What was given as the video is neither a path nor a usable binary file object."""


class NoVideoStreamError(VideoReadError, ValueError):
    """The file holds no video stream that can be decoded here."""


class FrameConversionError(VideoReadError, ValueError):
    """FFmpeg decoded a frame and refuses to convert it to RGB."""


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
