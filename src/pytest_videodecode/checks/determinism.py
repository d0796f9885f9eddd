"""The same request, asked again and again with another one between, always gives the same pictures."""

from __future__ import annotations

from pytest_videodecode.checks.asking import NO_WAY, SMALL_PIXELS, Ask, fits, ways
from pytest_videodecode.checks.base import Faults, Finding, Subject, unsupported
from pytest_videodecode.checks.compare import NO_ANSWER, change, incomplete
from pytest_videodecode.checks.patterns import late_window, unsorted

#: How often the request is made; the worker is warm after the first.
REPEATS = 5


def determinism(subject: Subject) -> Finding:
    """Ask for scattered frames ``REPEATS`` times, a late window between any two, and compare bit by bit.

    The request between moves whatever the decoder keeps from one request to the next.
    """
    clip = subject.clip
    if not (offered := ways(subject)):
        return unsupported(NO_WAY)
    frames = unsorted(clip, subject.seed)[: fits(clip, SMALL_PIXELS)] or (0,)
    ask = Ask("unsorted", frames, offered[0])
    between = late_window(clip, offered[-1]) if clip.frames else ask
    request = ask.request(clip)
    faults = Faults()
    first = subject.decode(request)
    if sentence := incomplete(clip, ask, first):
        faults.add(sentence, request)
        return faults.finding(frames=len(ask.frames))
    made = 1
    while made < REPEATS:
        other = subject.decode(between.request(clip))
        if other.kind in NO_ANSWER:
            faults.add(incomplete(clip, between, other), between.request(clip))
            break
        again = subject.decode(request)
        made += 1
        if found := change(clip, ask, first, again):
            sentence = f"at time {made} of {REPEATS}: {found.sentence}"
            faults.add(sentence, request, judged=found.judged)
        if again.kind in NO_ANSWER:
            break
    return faults.finding(repeats=made, frames=list(ask.frames), between=list(between.frames))
