"""How long a decode of a damaged clip may take: adapted to what the clean one takes, so that a hang is known soon."""

from __future__ import annotations

from pytest_videodecode.checks.asking import Ask, fits, ways
from pytest_videodecode.checks.base import Subject
from pytest_videodecode.model import OutcomeKind

#: So many times as long as all of the clean clip takes is a hang.
SLOWER = 25

#: No limit is shorter, in seconds: the machine may be busy.
LEAST_S = 3.0


def hang_limit(subject: Subject, most_s: float) -> float:
    """Seconds for one decode of a damaged copy of ``subject.clip``, found by decoding all of the clean clip once.

    ``most_s`` where that decode does not succeed; never above it.
    """
    clip = subject.clip
    if not clip.frames or not (offered := ways(subject)):
        return most_s
    ask = Ask("whole clip", tuple(range(min(clip.frames, fits(clip)))), offered[0])
    outcome = subject.decode(ask.request(clip))
    if outcome.kind is not OutcomeKind.FRAMES:
        return most_s
    return min(most_s, max(LEAST_S, round(SLOWER * outcome.census.wall_s, 1)))
