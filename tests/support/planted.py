"""Decoders with a fault planted in them, in this process: what each check must catch.

A planted decoder decodes its clip once, plainly, and answers every request from those pictures; the fault is in what
it answers. What a worker would see (codec contexts, OS threads, seeks) is imitated from the same rules that PyAV and
libdav1d follow.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_videodecode.checks.base import Subject
from pytest_videodecode.checks.pools import cores
from pytest_videodecode.damage.damage import write_damaged
from pytest_videodecode.model import (
    Census,
    Clip,
    DecodeRequest,
    DecoderInfo,
    ErrorInfo,
    Hang,
    Observed,
    Outcome,
    OutcomeKind,
    StreamSeen,
)

Pictures = NDArray[np.uint8]

UNREADABLE = 255


@functools.cache
def decoded(path: str) -> Pictures:
    """Every frame of the first video stream of ``path``, in presentation order."""
    import av

    with av.open(path) as container:
        stream = container.streams.video[0]
        stream.codec_context.thread_count = 1
        pictures = [frame.to_ndarray(format="rgb24") for frame in container.decode(stream)]
    return np.stack(pictures)


def toy_pictures(count: int) -> Pictures:
    """Pictures of 4x2 that show their number as their grey value."""
    return np.repeat(np.arange(count, dtype=np.uint8), 4 * 2 * 3).reshape(count, 2, 4, 3)


def read_toys(frames: Any, expected: Sequence[int]) -> list[int | None]:
    """The number of each toy picture, read off its first value."""
    return [None if frame[0, 0, 0] == UNREADABLE else int(frame[0, 0, 0]) for frame in frames]


def toy_clip(count: int, gop: int = 8, **changes: Any) -> Clip:
    """A clip that exists as ``toy_pictures`` only."""
    clip = Clip(
        name="toy",
        path="toy.mp4",
        codec="h264",
        width=4,
        height=2,
        times=tuple(Fraction(n, 30) for n in range(count)),
        keyframes=tuple(range(0, count, gop)),
        read=read_toys,
    )
    return dataclasses.replace(clip, **changes)


def error(kind: type[Exception] = IndexError, message: str = "no such frame") -> ErrorInfo:
    """An exception as a worker reports it."""
    bases = tuple(f"{cls.__module__}.{cls.__qualname__}" for cls in kind.__mro__[:-1])
    return ErrorInfo(type=kind.__name__, message=message, bases=bases)


class Healthy:
    """Answers every request rightly; subclasses plant one fault each."""

    info = DecoderInfo(name="planted", threads_by="parameter threads", opens_as=("path", "unseekable"), thread_cap=2)

    def __init__(self, clip: Clip) -> None:
        self.clip = clip
        self.pictures = toy_pictures(clip.frames) if clip.name == "toy" else decoded(clip.path)
        self.requests: list[DecodeRequest] = []

    def subject(self, **changes: Any) -> Subject:
        """This decoder as a check is handed it."""
        return dataclasses.replace(Subject(decoder=self.info, clip=self.clip, decode=self.decode), **changes)

    def damageable(self, folder: Path, **changes: Any) -> Subject:
        """The same with damaged copies, written into ``folder``; every variant of the clip is the clip itself."""
        given: dict[str, Any] = {
            "damaged": lambda clip, damage: str(write_damaged(clip, damage, folder)),
            "variant": lambda spec: self.clip,
        }
        return self.subject(**(given | changes))

    def decode(self, request: DecodeRequest) -> Outcome:
        self.requests.append(request)
        damaged = request.path != self.clip.path
        outcome = (self.on_damage if damaged else self.answer)(request, self.wanted(request))
        census, observed = Census(), None
        if request.count_threads:
            census = self.census(request)
        if request.observe:
            observed = self.observed(request)
        return dataclasses.replace(outcome, census=census, observed=observed)

    def wanted(self, request: DecodeRequest) -> list[int]:
        """The frames that ``request`` is for."""
        if request.indices is not None:
            return list(request.indices)
        assert request.timestamps is not None
        times = [float(time) for time in self.clip.times]
        return [times.index(time) if time in times else len(times) for time in request.timestamps]

    def answer(self, request: DecodeRequest, wanted: list[int]) -> Outcome:
        """The outcome, without what a worker would add."""
        chosen = self.choose(request, list(wanted))
        if any(not 0 <= number < len(self.pictures) for number in chosen):
            return Outcome(kind=OutcomeKind.ERROR, error=error())
        frames = self.paint(request, chosen, self.pictures[chosen])
        kind = OutcomeKind.FRAMES if len(frames) == len(wanted) else OutcomeKind.SILENT_LOSS
        return Outcome(kind=kind, frames=frames, count=len(frames))

    def on_damage(self, request: DecodeRequest, wanted: list[int]) -> Outcome:
        """The outcome where the file is a damaged copy: refused, whatever the damage."""
        return Outcome(kind=OutcomeKind.ERROR, error=error(ValueError, "invalid data"))

    def choose(self, request: DecodeRequest, wanted: list[int]) -> list[int]:
        """Which frames to return."""
        return wanted

    def paint(self, request: DecodeRequest, chosen: list[int], pictures: Pictures) -> Pictures:
        """What they look like."""
        return pictures

    def sought(self, wanted: Sequence[int]) -> bool:
        """Whether a reader would seek for these frames."""
        return bool(wanted) and min(wanted) >= min(key for key in (*self.clip.keyframes, 1 << 30) if key > 0)

    def thread_count(self, request: DecodeRequest) -> int:
        """The count set on the codec context; 0 leaves it automatic."""
        if self.clip.codec != "av1":
            return 0
        return 2 if request.threads is None else request.threads

    def dav1d_workers(self, request: DecodeRequest) -> int:
        """The threads of libdav1d's pool, by its rules."""
        if self.clip.codec != "av1":
            return 0
        count = self.thread_count(request) or cores()
        return 0 if count == 1 else count

    def other_threads(self, request: DecodeRequest) -> int:
        """Threads that the decode adds beside libdav1d's."""
        return 0 if self.clip.codec == "av1" else 3

    def census(self, request: DecodeRequest) -> Census:
        """What the parent would count."""
        workers, others = self.dav1d_workers(request), self.other_threads(request)
        names = {"python": 2 + others} | ({"dav1d-worker": workers} if workers else {})
        return Census(threads_before=2, threads_peak=2 + workers + others, thread_names=names, thread_samples=9)

    def observed(self, request: DecodeRequest) -> Observed:
        """What the worker would see."""
        stream = StreamSeen(
            codec=self.clip.codec,
            decoder="libdav1d" if self.clip.codec == "av1" else self.clip.codec,
            opened_thread_count=0,
            opened_thread_type="SLICE",
            thread_count=self.thread_count(request) or self.resolved(),
            thread_type="SLICE",
        )
        failing = "seek" in request.faults or request.open_as == "unseekable"
        seeks = int(self.sought(self.wanted(request)))
        return Observed(streams=(stream,), seeks=seeks, failed_seeks=seeks if failing else 0)

    def resolved(self) -> int:
        """What FFmpeg writes into a context that is opened with an automatic count."""
        if self.clip.codec == "av1":
            return 0
        return 1 if self.clip.codec == "mpeg4" or cores() == 1 else min(min(cores(), 8) + 1, 16)


class OffByOne(Healthy):
    def choose(self, request: DecodeRequest, wanted: list[int]) -> list[int]:
        return [max(0, number - 1) for number in wanted]


class OffByOneAfterSeek(Healthy):
    def choose(self, request: DecodeRequest, wanted: list[int]) -> list[int]:
        return [min(n + 1, self.clip.frames - 1) for n in wanted] if self.sought(wanted) else wanted


class NextAtGopEnd(Healthy):
    """An open GOP whose leading picture is dropped: alone, the frame before a keyframe comes out as the keyframe."""

    def choose(self, request: DecodeRequest, wanted: list[int]) -> list[int]:
        alone = len(wanted) == 1 and wanted[0] + 1 in self.clip.keyframes
        return [wanted[0] + 1] if alone else wanted


class StaleAfterEnd(Healthy):
    """A request after the last frame was asked begins with that frame: the pipeline was not emptied."""

    def choose(self, request: DecodeRequest, wanted: list[int]) -> list[int]:
        last = self.clip.frames - 1
        before = self.requests[-2] if len(self.requests) > 1 else None
        stale = before is not None and self.wanted(before) == [last] and wanted != [last]
        return [last, *wanted[1:]] if stale else wanted


class OneLevelOffAtFourThreads(Healthy):
    def paint(self, request: DecodeRequest, chosen: list[int], pictures: Pictures) -> Pictures:
        if request.threads == 4 and 5 in chosen:
            pictures[chosen.index(5), 0, 0, 0] ^= 1
        return pictures


class LosesTailInALongPipeline(Healthy):
    """The flush packet is left out: what the threads still hold at the end of the file never comes."""

    def choose(self, request: DecodeRequest, wanted: list[int]) -> list[int]:
        held = (request.threads or 1) - 8
        return [number for number in wanted if number < self.clip.frames - max(0, held)]


class DropsLastFrames(Healthy):
    def choose(self, request: DecodeRequest, wanted: list[int]) -> list[int]:
        return wanted[:-2] if wanted[-1] == self.clip.frames - 1 else wanted


class OneTooMany(Healthy):
    def choose(self, request: DecodeRequest, wanted: list[int]) -> list[int]:
        return [*wanted, wanted[-1]]


class PreviousBatch(Healthy):
    """The first picture of every batch is the last one of the batch before."""

    last: int | None = None

    def choose(self, request: DecodeRequest, wanted: list[int]) -> list[int]:
        before, self.last = self.last, wanted[-1]
        return wanted if before is None else [before, *wanted[1:]]


class SortsRequests(Healthy):
    def choose(self, request: DecodeRequest, wanted: list[int]) -> list[int]:
        return sorted(wanted)


class IgnoresRepeats(Healthy):
    def choose(self, request: DecodeRequest, wanted: list[int]) -> list[int]:
        return list(dict.fromkeys(wanted))


class GreyPictures(Healthy):
    def paint(self, request: DecodeRequest, chosen: list[int], pictures: Pictures) -> Pictures:
        pictures[:] = 128
        return pictures


class OffByOneByTime(Healthy):
    def choose(self, request: DecodeRequest, wanted: list[int]) -> list[int]:
        return wanted if request.indices is not None else [min(n + 1, self.clip.frames - 1) for n in wanted]


class FallsBackToTheStart(Healthy):
    """After a failed seek the frames are counted from where the file happens to stand."""

    def choose(self, request: DecodeRequest, wanted: list[int]) -> list[int]:
        failing = "seek" in request.faults and self.sought(wanted)
        return [number - min(wanted) for number in wanted] if failing else wanted


class FallbackRaises(Healthy):
    """``except av.AVError``: the name is looked up when a seek fails, and is not there."""

    def answer(self, request: DecodeRequest, wanted: list[int]) -> Outcome:
        if "seek" in request.faults and self.sought(wanted):
            return Outcome(
                kind=OutcomeKind.ERROR, error=error(AttributeError, "module 'av' has no attribute 'AVError'")
            )
        return super().answer(request, wanted)


class UnseekableRaises(Healthy):
    def answer(self, request: DecodeRequest, wanted: list[int]) -> Outcome:
        if request.open_as == "unseekable":
            return Outcome(kind=OutcomeKind.ERROR, error=error(PermissionError, "Operation not permitted"))
        return super().answer(request, wanted)


class PoolPerCore(Healthy):
    """The default leaves libdav1d's pool automatic, on a host of 16 cores."""

    def thread_count(self, request: DecodeRequest) -> int:
        return 0 if request.threads is None else super().thread_count(request)

    def dav1d_workers(self, request: DecodeRequest) -> int:
        return 16 if request.threads is None and self.clip.codec == "av1" else super().dav1d_workers(request)


class AutomaticPool(Healthy):
    """The default leaves libdav1d's pool automatic, on whatever host this is."""

    def thread_count(self, request: DecodeRequest) -> int:
        return 0 if request.threads is None else super().thread_count(request)


class IgnoresOverride(Healthy):
    def thread_count(self, request: DecodeRequest) -> int:
        return 2 if self.clip.codec == "av1" else 0


class ConversionPool(Healthy):
    """Every converted picture brings threads of its own, as many as the host has cores."""

    def other_threads(self, request: DecodeRequest) -> int:
        return super().other_threads(request) + 2


class CapsEveryCodec(Healthy):
    def thread_count(self, request: DecodeRequest) -> int:
        return 2 if request.threads is None else request.threads


class GrowsUnseen(Healthy):
    """Threads of its own that follow the count asked, with nothing to be seen in the codec context."""

    def other_threads(self, request: DecodeRequest) -> int:
        return super().other_threads(request) + (request.threads or 0)


class OtherThreadType(Healthy):
    def observed(self, request: DecodeRequest) -> Observed:
        seen = super().observed(request)
        stream = dataclasses.replace(seen.streams[0], thread_type="FRAME")
        return dataclasses.replace(seen, streams=(stream,))


class OneInFive(Healthy):
    """Every fifth answer to one and the same request is another picture."""

    def paint(self, request: DecodeRequest, chosen: list[int], pictures: Pictures) -> Pictures:
        if self.requests.count(request) % 5 == 0:
            pictures[-1, 0, 0] ^= 1
        return pictures


class OtherErrorAtFourThreads(Healthy):
    """Damage raises with one thread and ends cleanly, with fewer frames, with four."""

    def answer(self, request: DecodeRequest, wanted: list[int]) -> Outcome:
        frames = self.pictures[wanted[:2]]
        if request.threads == 4:
            return Outcome(kind=OutcomeKind.SILENT_LOSS, frames=frames, count=2)
        return Outcome(kind=OutcomeKind.PARTIAL, frames=frames, count=2, error=error(ValueError, "invalid data"))


class Hangs(Healthy):
    """Hangs from the third request on, whatever the file."""

    def on_damage(self, request: DecodeRequest, wanted: list[int]) -> Outcome:
        return self.answer(request, wanted) if len(self.requests) > 2 else super().on_damage(request, wanted)

    def answer(self, request: DecodeRequest, wanted: list[int]) -> Outcome:
        if len(self.requests) < 3:
            return super().answer(request, wanted)
        return Outcome(kind=OutcomeKind.HANG, hang=Hang(limit_s=5.0, gil_held=True))


class Crashes(Healthy):
    """Crashes from the third request on, whatever the file."""

    def on_damage(self, request: DecodeRequest, wanted: list[int]) -> Outcome:
        return self.answer(request, wanted) if len(self.requests) > 2 else super().on_damage(request, wanted)

    def answer(self, request: DecodeRequest, wanted: list[int]) -> Outcome:
        if len(self.requests) < 3:
            return super().answer(request, wanted)
        return Outcome(kind=OutcomeKind.CRASH, signal="SIGSEGV")


class LosesFramesOnDamage(Healthy):
    """What was decoded before the damage is returned as if it were all."""

    def on_damage(self, request: DecodeRequest, wanted: list[int]) -> Outcome:
        return Outcome(kind=OutcomeKind.SILENT_LOSS, frames=self.pictures[wanted[:-1]], count=len(wanted) - 1)


class NeighbourOnDamage(Healthy):
    def on_damage(self, request: DecodeRequest, wanted: list[int]) -> Outcome:
        return super().answer(request, [max(0, number - 1) for number in wanted])


class MakesUpLostFrames(Healthy):
    """Where the file has ended, the last picture is returned again and again."""

    def on_damage(self, request: DecodeRequest, wanted: list[int]) -> Outcome:
        data, whole = Path(request.path).read_bytes(), Path(self.clip.path).read_bytes()
        if len(data) < len(whole) and whole.startswith(data):
            last = max(0, len(data) * self.clip.frames // len(whole) - 2)
            return super().answer(request, [min(number, last) for number in wanted])
        return super().on_damage(request, wanted)


class RaisesKeyErrorOnDamage(Healthy):
    def on_damage(self, request: DecodeRequest, wanted: list[int]) -> Outcome:
        return Outcome(kind=OutcomeKind.ERROR, error=error(KeyError, "'pts'"))


class HangsOnDamage(Healthy):
    def on_damage(self, request: DecodeRequest, wanted: list[int]) -> Outcome:
        return Outcome(kind=OutcomeKind.HANG, hang=Hang(limit_s=3.0, phase="close", gil_held=True))


class OtherErrorOnDamageAtFourThreads(Healthy):
    def on_damage(self, request: DecodeRequest, wanted: list[int]) -> Outcome:
        if request.threads == 4:
            return Outcome(kind=OutcomeKind.ERROR, error=error(IndexError))
        return super().on_damage(request, wanted)


class LosesFramesOnDamageAtFourThreads(LosesFramesOnDamage):
    def on_damage(self, request: DecodeRequest, wanted: list[int]) -> Outcome:
        return super().on_damage(request, wanted) if request.threads == 4 else Healthy.on_damage(self, request, wanted)


class OneLevelOffOnDamageAtFourThreads(Healthy):
    """All else about damaged files is decoded as if it were whole."""

    def on_damage(self, request: DecodeRequest, wanted: list[int]) -> Outcome:
        outcome = super().answer(request, wanted)
        if request.threads == 4:
            outcome.frames[0, 0, 0] ^= 1
        return outcome


class HangsAtExit(Healthy):
    """The process does not end while the decoder's objects are alive."""

    def decode(self, request: DecodeRequest) -> Outcome:
        outcome = super().decode(request)
        if not request.then_exit:
            return outcome
        return dataclasses.replace(outcome, kind=OutcomeKind.HANG, hang=Hang(limit_s=3.0, phase="exit", gil_held=True))


class HangsWhenLeftWithALogLevel(Healthy):
    info = dataclasses.replace(Healthy.info, thread_types=("SLICE", "FRAME"), log_levels=True, stops_early=True)

    def answer(self, request: DecodeRequest, wanted: list[int]) -> Outcome:
        if request.thread_type == "FRAME" and request.log_level == "ERROR":
            return Outcome(kind=OutcomeKind.HANG, hang=Hang(limit_s=3.0, phase="close", gil_held=True))
        return super().answer(request, wanted[: request.stop_after])

    def on_damage(self, request: DecodeRequest, wanted: list[int]) -> Outcome:
        return self.answer(request, wanted)
