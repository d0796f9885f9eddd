"""What may come of a damaged decode, and what is a failure of the decoder."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_videodecode.checks.asking import INDEX, TIMELESS, TIMESTAMP, Ask
from pytest_videodecode.checks.base import ALLOWED_ERRORS, one_line
from pytest_videodecode.checks.damage_truth import certain
from pytest_videodecode.checks.damaged_answer import Pictures, amiss, is_allowed, is_refusal
from pytest_videodecode.damage.recipe import OutcomeClass, Recipe
from pytest_videodecode.model import Clip, DecodeRequest, Outcome, OutcomeKind

_KNOWN_ENDS = (OutcomeKind.FRAMES, OutcomeKind.PARTIAL, OutcomeKind.ERROR)


def fault(
    recipe: Recipe, clip: Clip | None, copy: bytes, outcome: Outcome, allowed: Sequence[str] = ALLOWED_ERRORS
) -> str:
    """Why ``outcome`` may not come of ``recipe``, in one line; empty where it may.

    It is judged as the check ``damage_outcome`` does; ``copy`` is the damaged file. Without a ``clip``, or where its
    frames have no certain times to be asked by, pictures are not looked at. ``allowed`` names the classes of errors.
    """
    ask = _asked(recipe.request, clip) if clip else None
    if clip and ask:
        wrong = amiss(clip, ask, outcome, certain(clip, recipe.damage, copy), came=Pictures(), allowed=allowed)
    else:
        wrong = _by_kind(outcome, allowed)
    if not wrong and recipe.expected and OutcomeClass.of(outcome) != recipe.expected:
        return f"{one_line(outcome)}, where the recipe expects {recipe.expected}"
    return wrong


def _asked(request: DecodeRequest, clip: Clip) -> Ask | None:
    """``request`` as the frames it is for; None where its timestamps are those of no certain frames."""
    if request.indices is not None:
        return Ask("recipe", request.indices[: request.stop_after], INDEX)
    times = [float(time) for time in clip.times]
    if not times or clip.container in TIMELESS or times != sorted(set(times)):
        return None
    return Ask("recipe", frames_at(request.timestamps or (), clip)[: request.stop_after], TIMESTAMP)


def frames_at(timestamps: Sequence[float], clip: Clip) -> tuple[int, ...]:
    """For each of ``timestamps`` (seconds) the frame of ``clip`` that is nearest to it."""
    return tuple(min(range(clip.frames), key=lambda n: abs(float(clip.times[n]) - time)) for time in timestamps)


def _by_kind(outcome: Outcome, allowed: Sequence[str]) -> str:
    if outcome.kind is OutcomeKind.SILENT_LOSS:
        return f"{outcome}, where as many as asked or an error is due"
    if outcome.kind not in _KNOWN_ENDS and not is_refusal(outcome):
        return one_line(outcome)
    if outcome.error and not is_allowed(outcome.error, allowed):
        return f"{one_line(outcome)}; allowed are {', '.join(allowed)} (setting allowed_errors)"
    return ""
