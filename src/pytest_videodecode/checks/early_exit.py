"""A decode that is left early ends, and so does the process with the decoder's objects still alive.

FFmpeg's frame threads and a log level set by ``av.logging.set_level`` deadlock when a codec context is freed while a
worker logs: freeing holds the GIL and joins workers that wait for it (PyAV 15 to 19). Small pictures hide it: at
160x96 nothing hangs, at 1280x720 with 8 threads about every second early break of an intact H.264 file does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pytest_videodecode.checks.asking import NO_WAY, Ask, fits, ways
from pytest_videodecode.checks.base import Faults, Finding, Subject, unsupported
from pytest_videodecode.checks.compare import NO_ANSWER, incomplete
from pytest_videodecode.checks.patterns import WINDOW
from pytest_videodecode.clips.rules import CODECS
from pytest_videodecode.model import Clip, ClipSpec, DecodeRequest, OutcomeKind

THREADS = 8
WIDTH, HEIGHT, FRAMES = 1280, 720, 24

#: A decode is left after 1 frame, after 2, up to so many.
EARLY = 4

#: So many hangs are waited for; each costs the whole limit.
MOST_HANGS = 3

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

    A decoder that stops early is left in the middle; a function is asked for its first frames only.
    """
    clip = _large(subject)
    if not clip.frames:
        return unsupported("the clip shows no frame after which it could be left")
    if not (offered := ways(replace(subject, clip=clip))):
        return unsupported(NO_WAY)
    faults = Faults()
    ends: dict[str, int] = {"left early": 0, "process ended": 0}
    hangs = 0
    for setting in _settings(subject):
        for ask, request in _requests(subject, clip, offered[0], setting):
            outcome = subject.decode(request)
            if sentence := incomplete(clip, ask, outcome):
                faults.add(f"with {setting}: {sentence}", request)
            if outcome.kind not in NO_ANSWER:
                ends["process ended" if request.then_exit else "left early"] += 1
            hangs += outcome.kind is OutcomeKind.HANG
            if hangs == MOST_HANGS:
                return faults.finding(clip=clip.name, ended=ends, hangs=hangs)
    return faults.finding(clip=clip.name, ended=ends, hangs=hangs)


def _large(subject: Subject) -> Clip:
    """The clip in a size at which frame threads are at work when it is left; a real file as it is."""
    spec = subject.clip.spec
    if spec is None or subject.variant is None:
        return subject.clip
    gop = min(spec.gop, FRAMES, CODECS[spec.codec].max_gop)
    return subject.variant(
        ClipSpec(
            codec=spec.codec,
            container=spec.container,
            width=WIDTH,
            height=HEIGHT,
            frames=FRAMES,
            gop=gop,
            bframes=min(spec.bframes, gop - 1),
            pix_fmt=spec.pix_fmt,
            texture=spec.texture,
        )
    )


def _settings(subject: Subject) -> Iterator[Setting]:
    decoder = subject.decoder
    for level in (None, LOG_LEVEL) if decoder.log_levels else (None,):
        for kind in (None, *decoder.thread_types):
            yield Setting(THREADS if decoder.threads_by else None, kind, level)


def _requests(subject: Subject, clip: Clip, by: str, setting: Setting) -> Iterator[tuple[Ask, DecodeRequest]]:
    """Each with the frames that must come of it."""
    asked = tuple(range(min(WINDOW, clip.frames, fits(clip))))
    for count in range(1, min(EARLY, len(asked)) + 1):
        for ends in (False, True) if count == 1 else (False,):
            frames = asked if subject.decoder.stops_early else asked[:count]
            request = Ask("early exit", frames, by).request(
                clip,
                threads=setting.threads,
                thread_type=setting.thread_type,
                log_level=setting.log_level,
                stop_after=count if subject.decoder.stops_early else None,
                then_exit=ends,
            )
            where = "the process ends after frame" if ends else "left after frame"
            yield Ask(f"{where} {count - 1}", asked[:count], by), request
