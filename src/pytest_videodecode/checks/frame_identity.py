"""Every access pattern returns the frames that were asked, by index and by timestamp."""

from __future__ import annotations

from pytest_videodecode.checks.asking import INDEX, NO_TIMES, NO_WAY, TIMESTAMP, Ask, fits, ways
from pytest_videodecode.checks.base import Faults, Finding, Subject, unsupported
from pytest_videodecode.checks.compare import NO_ANSWER, wrong
from pytest_videodecode.checks.patterns import patterns
from pytest_videodecode.model import OutcomeKind


def frame_identity(subject: Subject) -> Finding:
    """Ask every pattern in every way the decoder offers, and read the frame numbers off the pixels.

    Of a clip that shows no frame, frame 0 is asked, and only an error is right.
    """
    clip = subject.clip
    if not (offered := ways(subject)):
        return unsupported(NO_WAY)
    faults = Faults()
    right = 0
    errors: dict[str, str] = {}
    asks = [ask for by in offered for ask in patterns(clip, subject.seed, by) or (Ask("no frame", (0,), by),)]
    for ask in asks:
        request = ask.request(clip)
        outcome = subject.decode(request)
        if sentence := wrong(clip, ask, outcome):
            faults.add(sentence, request)
        elif outcome.kind is OutcomeKind.FRAMES:
            right += len(ask.frames)
        elif outcome.error:
            errors[f"{ask.name} by {ask.by}"] = outcome.error.type
        if outcome.kind in NO_ANSWER:
            break
    evidence = {
        "asked": {by: [ask.name for ask in asks if ask.by == by] for by in offered},
        "frames_right": right,
    }
    if errors:
        evidence["errors"] = errors
    if INDEX in offered and TIMESTAMP not in offered and "timestamps" in subject.decoder.asks:
        evidence["not_asked"] = f"by timestamp: {NO_TIMES}"
    if fits(clip) < clip.frames:
        evidence["cut"] = (
            f"whole clip: the first {fits(clip)} of {clip.frames} frames, as many as one request may hold"
        )
    return faults.finding(**evidence)
