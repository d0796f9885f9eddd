"""What ends a benchmark with one line."""

from __future__ import annotations

from pytest_videodecode.errors import VideodecodeError


class BenchmarkError(VideodecodeError):
    """The benchmark cannot be made as asked; the message says what to change. Nothing has been written."""
