"""A decode that is left early ends, and so does the process with the decoder's objects still alive.

FFmpeg's frame threads and a log level set by ``av.logging.set_level`` deadlock when a codec context is freed while a
worker logs: freeing holds the GIL and joins workers that wait for it (PyAV 15 to 19). What hides it: small pictures
(at 160x96 nothing hangs), short GOPs, and files about which there is nothing to log. Of breaks at 1280x720 with 8
frame threads hung 2 of 36 on intact H.264, 5 of 12 on a damaged file with a GOP of 8, 24 of 24 with one long GOP.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pytest_videodecode.checks.asking import NO_WAY, Ask, fits, ways
from pytest_videodecode.checks.base import Faults, Finding, Subject, unsupported
from pytest_videodecode.checks.compare import NO_ANSWER, incomplete
from pytest_videodecode.checks.damage_set import FLIPS
from pytest_videodecode.checks.damaged_answer import is_refusal
from pytest_videodecode.checks.patterns import WINDOW
from pytest_videodecode.damage.damage import Damage
from pytest_videodecode.damage.operators import Scatter
from pytest_videodecode.model import Clip, ClipSpec, DecodeRequest, OutcomeKind

THREADS = 8
WIDTH, HEIGHT, FRAMES = 1280, 720, 24

#: A decode is left after 1 frame, after 2, up to so many.
EARLY = 4

#: So many hangs are waited for; each costs the whole limit.
MOST_HANGS = 2

#: The level from which on FFmpeg's threads take the GIL for a message whatever is set.
LOG_LEVEL = "ERROR"


@dataclass(frozen=True, slots=True)
class Setting:
    """How the decoder is set while it is left early; None leaves its own."""

    threads: int | None
    thread_type: str | None
    log_level: str | None

    def __str__(self) -> str:
        named = [
            f"threads={self.threads}" if self.threads is not None else "",
            self.thread_type or "",
            f"log level {self.log_level}" if self.log_level else "",
        ]
        return " ".join(filter(None, named)) or "its own settings"


def early_exit(subject: Subject) -> Finding:
    """Leave a decode after each of the first frames, and end the process with one left open, at every setting.

    A decoder that stops early is left in the middle; a function is asked for its first frames only. Both an intact
    file and a damaged one are left; what the pictures of the latter show is not looked at.
    """
    clip = _large(subject)
    if not clip.frames:
        return unsupported("the clip shows no frame after which it could be left")
    if not (offered := ways(replace(subject, clip=clip))):
        return unsupported(NO_WAY)
    faults = Faults()
    left = ended = hangs = 0
    for setting, ask, request in _requests(subject, clip, _damaged(subject, clip), offered[0]):
        outcome = subject.decode(request)
        answered = outcome.kind not in NO_ANSWER or is_refusal(outcome)
        if sentence := incomplete(clip, ask, outcome) if request.path == clip.path or not answered else "":
            faults.add(f"with {setting}: {sentence}", request)
        left += answered and not request.then_exit
        ended += answered and request.then_exit
        hangs += outcome.kind is OutcomeKind.HANG
        if hangs == MOST_HANGS:
            break
    return faults.finding(clip=clip.name, left_early=left, processes_ended=ended, hangs=hangs)


def _large(subject: Subject) -> Clip:
    """The clip in a size at which frame threads are at work when it is left; a real file as it is."""
    spec = subject.clip.spec
    if spec is None or subject.variant is None:
        return subject.clip
    return subject.variant(
        ClipSpec(
            codec=spec.codec,
            container=spec.container,
            width=WIDTH,
            height=HEIGHT,
            frames=FRAMES,
            gop=FRAMES,
            bframes=spec.bframes,
            pix_fmt=spec.pix_fmt,
            texture=spec.texture,
        )
    )


def _settings(subject: Subject) -> Iterator[Setting]:
    decoder = subject.decoder
    for level in (None, LOG_LEVEL) if decoder.log_levels else (None,):
        for kind in (None, *decoder.thread_types):
            yield Setting(THREADS if decoder.threads_by else None, kind, level)


def _damaged(subject: Subject, clip: Clip) -> str:
    """The path of a damaged copy; empty for a real file, which is left as it is."""
    if clip.spec is None or subject.damaged is None:
        return ""
    return subject.damaged(clip, Damage((Scatter(region="after_first", count=FLIPS),)))


def _requests(subject: Subject, clip: Clip, copy: str, by: str) -> Iterator[tuple[Setting, Ask, DecodeRequest]]:
    """Each with the setting it is made at, and the frames that must come of it where the file is intact."""
    asked = tuple(range(min(WINDOW, clip.frames, fits(clip))))
    stops = subject.decoder.stops_early
    counts = range(1, min(EARLY, len(asked)) + 1)
    exits = [(copy or clip.path, 1, True)]  # one at each setting, for each costs the start of a process
    exits = [*((path, count, False) for path in filter(None, (clip.path, copy)) for count in counts), *exits]
    for setting in _settings(subject):
        for path, count, ends in exits:
            request = replace(
                Ask("early exit", asked if stops else asked[:count], by).request(clip),
                path=path,
                threads=setting.threads,
                thread_type=setting.thread_type,
                log_level=setting.log_level,
                stop_after=count if stops else None,
                then_exit=ends,
            )
            what = "the process ends after frame" if ends else "left after frame"
            of_copy = " of a damaged copy" if path == copy else ""
            yield setting, Ask(f"{what} {count - 1}{of_copy}", asked[:count], by), request
