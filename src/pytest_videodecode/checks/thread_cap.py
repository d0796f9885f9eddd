"""libdav1d's pool keeps the promised size, an override is obeyed, and no other pool is touched or grows.

A decoder promises its cap in ``DecoderInfo.thread_cap``. On AV1, with a promise, the default and every override
are judged, and the cap is one on everything that a decode starts, colour conversion included; without a promise
the default is reported and the overrides of libdav1d's pool are judged. On other codecs a promise means that the
thread settings stay as PyAV makes them; without one a decoder is free to set them: ``unsupported``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_videodecode.checks.asking import NO_WAY, SMALL_PIXELS, Ask, fits, ways
from pytest_videodecode.checks.base import Faults, Finding, Subject, one_line, unsupported
from pytest_videodecode.checks.compare import NO_ANSWER, incomplete
from pytest_videodecode.checks.pools import DAV1D_WORKER, Pool, automatic_counts, cores, sample
from pytest_videodecode.checks.thread_parity import NO_THREADS
from pytest_videodecode.model import StreamSeen

#: Counts asked beside the default; 16 stands for the pool that a host of 16 cores would make.
OVERRIDES = (1, 4, 0, 16)

#: Enough frames that a decode lasts through many samples.
FRAMES = 48


def thread_cap(subject: Subject) -> Finding:
    """Decode with no count and with several, and hold the pools against what is promised or asked."""
    clip, cap = subject.clip, subject.decoder.thread_cap
    if not clip.frames:
        return unsupported("the clip shows no frame, so no pool is seen at work")
    if not subject.decoder.threads_by:
        return unsupported(NO_THREADS)
    if not (offered := ways(subject)):
        return unsupported(NO_WAY)
    if clip.codec != "av1" and cap is None:
        return unsupported(
            f"the decoder promises no cap on libdav1d, so its {clip.codec} threads are its own affair; "
            "thread_cap=N in its spec makes the promise"
        )
    ask = Ask("from the start", tuple(range(min(FRAMES, clip.frames, fits(clip, SMALL_PIXELS)))), offered[0])
    pools: dict[int | None, Pool] = {}
    faults = Faults()
    for threads in (None, *OVERRIDES):
        pool = pools[threads] = sample(subject, ask, threads)
        if pool.last.kind in NO_ANSWER:
            faults.add(f"{pool.asked}: {incomplete(clip, ask, pool.last)}", pool.request)
            return faults.finding(pools=[pool.evidence() for pool in pools.values()])
    evidence: dict[str, Any] = {
        "pools": [pool.evidence() for pool in pools.values()],
        "cap": cap,
        "cores": cores(),
    }
    if reason := _nothing_seen(pools):
        return unsupported(reason, **evidence)
    if clip.codec == "av1":
        return _judge_av1(subject, pools, faults, evidence)
    return _judge_untouched(subject, ask, pools, faults, evidence)


def _nothing_seen(pools: Mapping[int | None, Pool]) -> str:
    default = pools[None]
    if default.streams:
        return ""
    if not any(pool.samples for pool in pools.values()):
        return f"no OS thread was counted and no codec context seen ({default.unseen})"
    if not default.last.count:
        return f"no picture came ({one_line(default.last)}), so no pool was seen at work"
    return ""


def _judge_av1(
    subject: Subject, pools: Mapping[int | None, Pool], faults: Faults, evidence: dict[str, Any]
) -> Finding:
    cap, default = subject.decoder.thread_cap, pools[None]
    decoders = {stream.decoder for pool in pools.values() for stream in pool.streams}
    if decoders and "libdav1d" not in decoders:
        return unsupported(f"AV1 is decoded by {', '.join(sorted(decoders))} here, not by libdav1d", **evidence)
    if not decoders and not any(pool.workers for pool in pools.values()):
        return unsupported(f"no thread of libdav1d and no codec context was seen ({default.unseen})", **evidence)

    for threads, pool in pools.items():
        if threads is None:
            sentences = _over(pool, cap, f"the promised cap is {cap}") if cap is not None else []
        else:
            sentences = _disobeyed(pool, threads, whole=cap is not None)
        for sentence in sentences:
            faults.add(f"{pool.asked}: {sentence}", pool.request)

    hidden = cap is not None and cores() <= cap  # an automatic pool would not be larger than the cap here
    if cap is None:
        evidence["default_judged_by"] = "nothing: no cap is promised"
    elif default.streams:
        contexts = "the codec context" if hidden or not default.samples else "OS threads and the codec context"
        evidence["default_judged_by"] = contexts
    else:
        evidence["default_judged_by"] = "OS threads"
    if hidden and not default.streams and not faults:
        return unsupported(
            f"an automatic pool has {cores()} threads on this host, no more than the cap of {cap}, and the codec "
            f"context was not seen ({default.unseen}); run on a host with more cores",
            **evidence,
        )
    return faults.finding(**evidence)


def _over(pool: Pool, count: int, expected: str) -> list[str]:
    """Sentences on a pool that is larger than ``count``, or on other threads that come on top of it."""
    threads = 0 if count == 1 else count  # libdav1d decodes in the caller's thread then
    sentences = []
    if pool.workers > threads:
        sentences.append(f"{pool.workers} {DAV1D_WORKER} threads at peak, and {expected}")
    elif pool.added > threads:
        sentences.append(
            f"{pool.added} OS threads added at peak, {pool.workers} of them libdav1d's, and {expected}: "
            "something else starts threads; convert colours with one (a shared VideoReformatter with threads=1)"
        )
    if pool.streams and not any(0 < stream.thread_count <= count for stream in pool.streams):
        found = pool.streams[0].thread_count
        automatic = " (FFmpeg's automatic choice, one per core)" if found == 0 else ""
        sentences.append(f"libdav1d was opened with thread_count {found}{automatic}, and {expected}")
    return sentences


def _disobeyed(pool: Pool, count: int, *, whole: bool) -> list[str]:
    """Sentences on an override that was not obeyed; ``whole`` judges all threads, not libdav1d's only."""
    if count == 0:
        if not pool.streams or any(stream.thread_count == 0 for stream in pool.streams):
            return []
        return [f"libdav1d was opened with thread_count {pool.streams[0].thread_count}, expected 0 (automatic)"]
    threads = 0 if count == 1 else count
    counts = [stream.thread_count for stream in pool.streams]
    if counts and count not in counts:
        return [f"libdav1d was opened with thread_count {counts[0]}, expected {count}"]
    if pool.workers > threads or (pool.samples and not counts and pool.workers < threads):
        return [f"{pool.workers} {DAV1D_WORKER} threads at peak, expected {threads}"]
    return _over(pool, count, f"{count} were asked") if whole else []


def _judge_untouched(
    subject: Subject, ask: Ask, pools: Mapping[int | None, Pool], faults: Faults, evidence: dict[str, Any]
) -> Finding:
    clip, default = subject.clip, pools[None]
    automatic = automatic_counts(clip)
    for pool in pools.values():
        touched = next((stream for stream in pool.streams if _touched(stream, automatic)), None)
        if touched:
            faults.add(
                f"{pool.asked}: {touched.decoder} was made with thread_count {touched.opened_thread_count} and "
                f"type {touched.opened_thread_type}, and left with {touched.thread_count} and "
                f"{touched.thread_type}; set the count of libdav1d streams only",
                pool.request,
            )
        elif pool.samples and pool.added > default.added:
            before = max(default.added, sample(subject, ask, None).added)  # a peak is a lower bound
            if pool.added > before:
                faults.add(
                    f"{pool.asked}: {pool.added} OS threads added at peak where {before} are added with no count "
                    f"asked; a thread count must not reach {clip.codec}",
                    pool.request,
                )
    seen = ("the codec context",) * bool(default.streams) + ("OS threads",) * bool(default.samples)
    evidence["judged_by"] = " and ".join(seen)
    return faults.finding(**evidence)


def _touched(stream: StreamSeen, automatic: frozenset[int]) -> bool:
    if stream.thread_type != stream.opened_thread_type:
        return True
    if stream.thread_count == stream.opened_thread_count:
        return False
    # FFmpeg itself writes its automatic choice into a context that is opened with slice threads and count 0
    return not (
        stream.opened_thread_count == 0 and stream.opened_thread_type == "SLICE" and stream.thread_count in automatic
    )
