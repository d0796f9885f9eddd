"""What reading a data set raises by intent, below the reader's own root ``VideoReadError``.

The message is the only argument, so that such an error comes back whole from a worker process of a DataLoader.
"""

from __future__ import annotations

from pytest_videodecode.production.errors import VideoReadError


class DatasetError(VideoReadError, ValueError):
    """A data set that is none of LeRobot v3, contradicts itself, or does not hold what is asked of it."""


class DatasetFileMissingError(DatasetError, FileNotFoundError):
    """A file that the data set needs is not there."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class UnreadableClipError(VideoReadError):
    """Frames that a sample needs cannot be read from a clip; ``__cause__`` is the reader's own error."""


class LoaderStateError(VideoReadError, ValueError):
    """A saved state that does not belong to this data set, these settings or this number of workers."""


class UnreadableClipWarning(UserWarning):
    """Samples are left out because frames of a clip cannot be read."""
