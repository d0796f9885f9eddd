"""Holding an outcome against what had to come, and two outcomes against each other; the result is one sentence.

Of a damaged clip (``intact`` False) an error may come, while a wrong frame, a loss without an error, a hang and
a crash are faults there too. Two outcomes of a damaged clip must be of one class and one exception type; their
pixels may differ, because FFmpeg's concealment depends on thread timing, and are reported only. libdav1d conceals
nothing: on generated AV1 clips the frames returned are judged bit by bit, damaged or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pytest_videodecode.checks.asking import Ask
from pytest_videodecode.checks.base import one_line
from pytest_videodecode.model import Clip, Outcome, OutcomeKind

#: After these no picture and no exception is there to be judged, and asking on costs a time limit each.
NO_ANSWER = frozenset({OutcomeKind.HANG, OutcomeKind.CRASH, OutcomeKind.OUT_OF_MEMORY})


@dataclass(frozen=True, slots=True)
class Change:
    """How one outcome differs from another; ``judged`` False is reported and not held against the decoder."""

    sentence: str
    judged: bool
    levels: int = 0  # largest difference of one colour value


def wrong(clip: Clip, ask: Ask, outcome: Outcome) -> str:
    """What is wrong with ``outcome`` as an answer to ``ask``, in one sentence; empty where nothing is."""
    came = shown(clip, ask, outcome)
    amiss = [position for position, number in enumerate(came) if number != ask.frames[position]]
    if not amiss:
        return incomplete(clip, ask, outcome)
    first = amiss[0]
    more = f"; {len(amiss)} of {len(came)} pictures are wrong" if len(amiss) > 1 else ""
    where = f"({ask.place(first)}){more}{_miscount(ask, outcome)}"
    return f"asked frame {ask.frames[first]}, got {_shows(came[first])} {where}"


def incomplete(clip: Clip, ask: Ask, outcome: Outcome) -> str:
    """Why ``outcome`` is no full answer, whatever its pictures show; empty where it is one.

    An error is a full answer where the clip is damaged, and the only one where it shows no frame.
    """
    if outcome.kind in NO_ANSWER:
        return f"asked {_frames(ask)}, got {one_line(outcome)} (pattern '{ask.name}', by {ask.by})"
    if not clip.frames:
        if outcome.kind is OutcomeKind.ERROR:
            return ""
        return f"asked frame 0 of a clip that shows no frame, got {outcome} where an error is due (by {ask.by})"
    came = outcome.count
    if outcome.error and not clip.intact:
        return ""
    if came < len(ask.frames):
        got = one_line(outcome.error) if outcome.error else "no picture and no error"
        return f"asked frame {ask.frames[came]}, got {got} ({ask.place(came)}){_miscount(ask, outcome)}"
    if came > len(ask.frames):
        return f"asked {_frames(ask)}, got {came} pictures (pattern '{ask.name}', by {ask.by})"
    if outcome.error:
        return f"asked {_frames(ask)}, got them and then {one_line(outcome.error)} (pattern '{ask.name}', by {ask.by})"
    return ""


def shown(clip: Clip, ask: Ask, outcome: Outcome) -> list[int | None]:
    """The frame that each picture shows, read off its pixels; pictures beyond those asked are left out."""
    if outcome.frames is None or not clip.frames:
        return []
    frames = outcome.frames[: len(ask.frames)]
    return clip.read(frames, ask.frames[: len(frames)])


def change(clip: Clip, ask: Ask, first: Outcome, again: Outcome) -> Change | None:
    """How ``again`` differs from ``first``, two answers to ``ask``; None where they are the same."""
    if first.kind is not again.kind or _error(first) != _error(again):
        return Change(f"asked {_frames(ask)}, got {one_line(again)} where {one_line(first)} came", judged=True)
    pixels = _pixels(clip, ask, first.frames, again.frames)
    if pixels is None and first.count != again.count:
        sentence = f"asked {_frames(ask)}, got {again.count} pictures where {first.count} came"
        return Change(sentence, judged=clip.intact)
    return pixels


def bit_exact(clip: Clip) -> bool:
    """Whether two decodes of ``clip`` must be equal bit by bit."""
    return clip.intact or (clip.codec == "av1" and clip.spec is not None)


def _pixels(clip: Clip, ask: Ask, first: Any, again: Any) -> Change | None:
    if first is None or again is None:
        return None
    if first.shape[1:] != again.shape[1:]:
        sizes = [f"{frames.shape[2]}x{frames.shape[1]}" for frames in (again, first)]
        return Change(f"asked {_frames(ask)}, got pictures of {sizes[0]} where {sizes[1]} came", judged=True)
    for position, (one, other) in enumerate(zip(first, again, strict=False)):
        if np.array_equal(one, other):
            continue
        difference = np.abs(one.astype(np.int16) - other)
        levels = int(difference.max())
        asked = ask.frames[position]
        (number,) = clip.read(other[np.newaxis], (asked,))
        sentence = (
            f"asked frame {asked}, got {_shows(number)} with other pixels: {np.count_nonzero(difference)} of "
            f"{difference.size} values differ, by at most {levels} ({ask.place(position)})"
        )
        return Change(sentence, judged=bit_exact(clip), levels=levels)
    return None


def _shows(number: int | None) -> str:
    return "a picture that shows no frame of the clip" if number is None else f"frame {number}"


def _miscount(ask: Ask, outcome: Outcome) -> str:
    asked = len(ask.frames)
    return "" if outcome.count == asked else f"; {outcome.count} pictures came for {asked} asked"


def _frames(ask: Ask) -> str:
    first, last, count = ask.frames[0], ask.frames[-1], len(ask.frames)
    return f"frame {first}" if count == 1 else f"{count} frames from {first} to {last}"


def _error(outcome: Outcome) -> str:
    return outcome.error.type if outcome.error else ""
