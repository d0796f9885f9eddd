"""Every thread count and thread type returns the same pictures, again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from pytest_videodecode.checks.asking import NO_WAY, SMALL_PIXELS, Ask, fits, ways
from pytest_videodecode.checks.base import Faults, Finding, Subject, unsupported
from pytest_videodecode.checks.compare import NO_ANSWER, change, incomplete
from pytest_videodecode.checks.patterns import DENSE, late_start
from pytest_videodecode.model import Clip, Outcome

#: Each setting is decoded this often: frame threads may differ from run to run.
REPEATS = 2

#: Most threads asked for; frame threads hold a picture each, so more would be a test of memory.
MOST_THREADS = 64

NO_THREADS = (
    "no thread count reaches this decoder; give the function a parameter named threads, "
    "or name its environment variable (threads_env)"
)


@dataclass(frozen=True, slots=True)
class Setting:
    """One way to set a decoder's threads."""

    threads: int
    thread_type: str | None

    def __str__(self) -> str:
        return f"threads={self.threads}" + (f" {self.thread_type}" if self.thread_type else "")


def thread_parity(subject: Subject) -> Finding:
    """Decode the start and the end of the clip with every setting and hold each result against the first one.

    Tried are ``subject.threads`` and one count above the number of frames (a pipeline longer than the clip loses
    its tail where the decoder is not flushed), times the thread types that the decoder knows. The first setting
    is one thread where that is among the counts. Whether its frames are the right ones is ``frame_identity``'s.
    """
    clip = subject.clip
    if not subject.decoder.threads_by:
        return unsupported(NO_THREADS)
    if not (offered := ways(subject)):
        return unsupported(NO_WAY)
    settings = _settings(subject)
    asks = _asks(clip, offered[0])
    faults = Faults()
    firsts: dict[str, Outcome] = {}
    levels = compared = 0
    for ask, setting in product(asks, settings * REPEATS):
        request = ask.request(clip, threads=setting.threads, thread_type=setting.thread_type)
        outcome = subject.decode(request)
        first = firsts.setdefault(ask.name, outcome)
        if first is outcome:
            if sentence := incomplete(clip, ask, outcome):
                faults.add(f"with {setting}: {sentence}", request)
                break  # nothing to hold the others against
        elif found := change(clip, ask, first, outcome):
            sentence = f"with {setting} against {settings[0]}: {found.sentence}"
            faults.add(sentence, request, judged=found.judged)
            levels = max(levels, found.levels)
        compared += outcome.count
        if outcome.kind in NO_ANSWER:
            break
    return faults.finding(
        settings=[str(setting) for setting in settings],
        patterns={ask.name: len(ask.frames) for ask in asks},
        repeats=REPEATS,
        pictures=compared,
        largest_difference=levels,
    )


def _settings(subject: Subject) -> list[Setting]:
    above = min(max(subject.clip.frames, 1) + 1, MOST_THREADS)
    counts = sorted(dict.fromkeys((*subject.threads, above)), key=lambda count: count != 1)
    kinds: Sequence[str | None] = subject.decoder.thread_types or (None,)
    return [Setting(count, kind) for count in counts for kind in kinds]


def _asks(clip: Clip, by: str) -> list[Ask]:
    if not clip.frames:
        return [Ask("no frame", (0,), by)]
    most = min(DENSE, fits(clip, SMALL_PIXELS))
    start = Ask("from the start", tuple(range(min(most, clip.frames))), by)
    end = Ask("late window to the end", tuple(range(max(late_start(clip), clip.frames - most), clip.frames)), by)
    return [start] if start.frames == end.frames else [start, end]
