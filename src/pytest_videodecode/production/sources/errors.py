"""What a remote source raises by intent; the message is the only argument, so that it comes back from a worker."""

from __future__ import annotations

from pytest_videodecode.production.errors import VideoReadError


class SourceError(VideoReadError, OSError):
    """A source that cannot be used: an unknown URL, a missing package, access refused, no room for its files."""


class SourceUnreachableError(SourceError):
    """A source that has not answered, or not whole, in all the tries that it was given."""
