"""Thread pools as a check sees them: OS threads sampled from outside, codec contexts read from inside.

A sample can miss threads and never invents them, so a peak is a lower bound: it convicts a pool that is too
large, while one that looks too small is believed only where no codec context says otherwise.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

from pytest_videodecode.checks.asking import Ask
from pytest_videodecode.checks.base import Subject
from pytest_videodecode.checks.compare import NO_ANSWER
from pytest_videodecode.model import Clip, DecodeRequest, Outcome, StreamSeen

#: How libdav1d names the threads of its pool (``pthread_setname_np`` in its ``src/thread.h``).
DAV1D_WORKER = "dav1d-worker"

#: One request is made this often and the most seen counts; more often, up to the limit, while hardly any sample was
#: taken (on a busy host the sampling process may not get a core while the decode runs).
REPEATS = 3
MOST_REPEATS = 9
FEW_SAMPLES = 3

#: Codecs that FFmpeg decodes with slice threads, hence with an automatic count that is not 1.
SLICE_THREADED = frozenset({"h264", "hevc", "vp8", "vp9", "mpeg2video"})

#: Largest automatic count of FFmpeg (``MAX_AUTO_THREADS`` in libavcodec/pthread_internal.h).
_MAX_AUTO = 16


@dataclass(frozen=True, slots=True)
class Pool:
    """What repeats of one request showed of the threads that it starts; ``codec`` is the clip's."""

    request: DecodeRequest
    codec: str
    outcomes: tuple[Outcome, ...] = ()

    @property
    def asked(self) -> str:
        """The thread count asked, in words."""
        threads = self.request.threads
        return "with no thread count asked" if threads is None else f"with threads={threads} asked"

    @property
    def last(self) -> Outcome:
        """The outcome of the last repeat, without its pixels."""
        return self.outcomes[-1]

    @property
    def samples(self) -> int:
        """How often OS threads were counted; 0 means that nothing is known of them."""
        return sum(outcome.census.thread_samples for outcome in self.outcomes)

    @property
    def added(self) -> int:
        """OS threads above those there before, at peak."""
        return max(max(0, o.census.threads_peak - o.census.threads_before) for o in self.outcomes)

    @property
    def workers(self) -> int:
        """Threads of libdav1d, at peak."""
        return self._names().get(DAV1D_WORKER, 0)

    @property
    def streams(self) -> tuple[StreamSeen, ...]:
        """The codec contexts for the clip's codec that the last repeat opened."""
        observed = self.last.observed
        return tuple(stream for stream in observed.streams if stream.codec == self.codec) if observed else ()

    @property
    def unseen(self) -> str:
        """Why there are no ``streams``."""
        observed = self.last.observed
        return observed.reason if observed else "the worker observed nothing"

    def evidence(self) -> dict[str, Any]:
        """What was seen, for a verdict."""
        seen: dict[str, Any] = {"threads": self.request.threads}
        if self.samples:
            seen |= {"threads_added": self.added, "by_name": self._names(), "samples": self.samples}
        if self.streams:
            seen["contexts"] = [
                f"{s.decoder}: opened {s.opened_thread_count} {s.opened_thread_type}, "
                f"left {s.thread_count} {s.thread_type}"
                for s in self.streams
            ]
        return seen

    def _names(self) -> dict[str, int]:
        most: dict[str, int] = {}
        for outcome in self.outcomes:
            for name, count in outcome.census.thread_names.items():
                most[name] = max(count, most.get(name, 0))
        return most


def sample(subject: Subject, ask: Ask, threads: int | None) -> Pool:
    """Make one request several times, counting threads; stops after a hang or a crash."""
    request = ask.request(subject.clip, threads=threads, observe=True, count_threads=True)
    pool = Pool(request, subject.clip.codec)
    for repeat in range(1, MOST_REPEATS + 1):
        outcome = replace(subject.decode(request), frames=None)
        pool = replace(pool, outcomes=(*pool.outcomes, outcome))
        if outcome.kind in NO_ANSWER or (repeat >= REPEATS and pool.samples >= FEW_SAMPLES):
            break
    return pool


def cores() -> int:
    """Cores that this process and its workers may use, which is what FFmpeg and libdav1d count too."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def automatic_counts(clip: Clip) -> frozenset[int]:
    """What a codec context with slice threading and count 0 may hold once FFmpeg has opened it.

    Source: ``ff_slice_thread_init`` (libavcodec/pthread_slice.c): one more than the cores, or than the rows of
    macroblocks where those are fewer, at most 16; 1 on one core; and 1 for a codec without slice threading
    (``validate_thread_parameters`` in pthread.c). 0 stays where the context was never opened.
    """
    usable = min(cores(), (clip.height + 15) // 16) if clip.height else cores()
    sliced = min(usable + 1, _MAX_AUTO) if usable > 1 else 1
    return frozenset({0, sliced}) if clip.codec in SLICE_THREADED else frozenset({0, 1, sliced})
