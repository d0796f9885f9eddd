"""What may come of a damaged clip, and what is a failure of the decoder."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_videodecode.checks.base import ALLOWED_ERRORS, one_line
from pytest_videodecode.model import ErrorInfo, Outcome, OutcomeKind


def fault(outcome: Outcome, allowed: Sequence[str] = ALLOWED_ERRORS) -> str:
    """Why ``outcome`` may not come of a damaged clip, in one line; empty where it may.

    Frames may come, some frames and then an error, or an error at once. Which picture is shown is not judged: dropped
    packets renumber the frames, and FFmpeg conceals what is lost with what was shown before. ``allowed`` names the
    classes of errors that may come.
    """
    if outcome.kind is OutcomeKind.SILENT_LOSS:
        return f"{outcome}, where as many as asked or an error is due"
    if outcome.kind not in (OutcomeKind.FRAMES, OutcomeKind.PARTIAL, OutcomeKind.ERROR):
        return one_line(outcome)
    if outcome.error and not _is_one_of(outcome.error, allowed):
        return f"{one_line(outcome)}; an error that is not allowed (allowed are {', '.join(allowed)})"
    return ""


def _is_one_of(error: ErrorInfo, allowed: Sequence[str]) -> bool:
    return any(name in error.bases or f"builtins.{name}" in error.bases for name in allowed)
