"""Damaged input ends in a known outcome: right frames, or one of the allowed errors.

Never in a hang, a crash, memory without bounds, fewer frames without an error, or the picture of another frame where
that cannot be the work of the damage (see ``damage_truth``). Pictures that the damage may have reached are counted
by what they show, and not judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_videodecode.checks.asking import NO_WAY, SMALL_PIXELS, Ask, fits, ways
from pytest_videodecode.checks.base import Finding, Subject, unsupported
from pytest_videodecode.checks.damage_set import damage_set
from pytest_videodecode.checks.damage_truth import Certain, certain
from pytest_videodecode.checks.damaged_answer import Inquiry
from pytest_videodecode.checks.patterns import WINDOW
from pytest_videodecode.errors import DamageError
from pytest_videodecode.model import Clip

NO_COPIES = "no damaged copies can be made here"
NO_FRAME = "the clip shows no frame that could be damaged"

#: Of one damage in so many the whole clip is asked.
_WHOLE_EVERY = 4

#: Pixels of all frames above which a clip is asked for a window of each damage and no more.
_LARGE = 64 << 20


def damage_outcome(subject: Subject) -> Finding:
    """Damage the clip in about 30 ways, ask each copy for a few frames, and judge what comes.

    Asked are a window into the damage, a frame behind it that it does not reach, and a frame that is lost.
    """
    clip = subject.clip
    if subject.damaged is None:
        return unsupported(NO_COPIES)
    if not clip.frames:
        return unsupported(NO_FRAME)
    if not (offered := ways(subject)):
        return unsupported(NO_WAY)
    inquiry = Inquiry(subject, subject.allowed_errors)
    evidence: dict[str, Any] = {"damages": 0, "not_made": {}}
    for number, damage in enumerate(damage_set(clip, subject.seed)):
        try:
            path = subject.damaged(clip, damage)
        except DamageError as error:
            evidence["not_made"][str(damage)] = str(error)
            continue
        evidence["damages"] += 1
        truth = certain(clip, damage, Path(path).read_bytes())
        for ask in _asks(clip, truth, offered, whole=number % _WHOLE_EVERY == 0):
            if not inquiry.ask(clip, ask, path, truth, str(damage)):
                return inquiry.finding(**evidence)
    return inquiry.finding(**evidence)


def _asks(clip: Clip, truth: Certain, offered: tuple[str, ...], *, whole: bool) -> Iterator[Ask]:
    by, jump_by = offered[0], offered[-1]
    most = fits(clip, SMALL_PIXELS)
    reached = next((n for n in range(clip.frames) if n not in truth.kept[by]), clip.frames - 1)
    start = max(0, min(reached - 2, clip.frames - WINDOW))
    yield Ask("into the damage", tuple(range(start, min(start + WINDOW, start + most, clip.frames))), by)
    if clip.frames * clip.width * clip.height > _LARGE:
        return
    yield Ask("behind the damage", (max(truth.kept[jump_by], default=clip.frames - 1),), jump_by)
    if truth.gone[jump_by]:
        yield Ask("lost", (min(truth.gone[jump_by]),), jump_by)
    if whole:
        yield Ask("whole clip", tuple(range(min(most, clip.frames))), by)
