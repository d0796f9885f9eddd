"""A damaged clip ends the same way at every thread setting, and in a second decoder where one is given.

The experiment that this package grew from: 200 scattered flips, or a file cut at 60 %, decoded over 48 random
windows, the outcomes counted per side. In a clip so much smaller than those used there 200 flips leave no packet
whole, so few windows are spent on them, and one flip for every second GOP is a third damage.

Compared is whether a window was decoded, and the type of the exception where it was not.

* A window that needs one of the last frames of an AV1 file may be refused by another exception: with two threads or
  more libdav1d keeps silent about damage that it meets while it is drained, and the reader is left to notice that a
  frame is missing. This is reported only.
* How many pictures came before an exception is not compared: frame threads deliver later.
* A window that ends just before damage may be decoded at one setting and not at another, which is reported only:
  threads read ahead, and libdav1d gives up what it has not yet given out when it meets a packet cut short (of the
  default AV1 clip cut at 60 % one thread returns 24 frames, two return 22, eight 21, draining or not).
* Pixels are judged on generated AV1 clips and reported elsewhere: FFmpeg's concealment in other codecs differs
  between settings, and with frame threads from run to run (10 of 12 damaged H.264 files).
* Frame threads hide errors that slice threads raise (HEVC cut short: no error where there were 216). This is judged:
  FFmpeg may be at the bottom of it, but a reader that lets damage go unnoticed at some setting need not offer it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

from pytest_videodecode.checks.asking import NO_WAY, SMALL_PIXELS, Ask, fits, ways
from pytest_videodecode.checks.base import Faults, Finding, Subject, unsupported
from pytest_videodecode.checks.compare import NO_ANSWER, bit_exact, incomplete
from pytest_videodecode.checks.damage_outcome import NO_COPIES, NO_FRAME
from pytest_videodecode.checks.damage_set import FLIPS, KEPT
from pytest_videodecode.checks.damage_truth import Certain, certain
from pytest_videodecode.checks.damaged_answer import is_refusal
from pytest_videodecode.checks.sides import sides
from pytest_videodecode.checks.thread_parity import NO_THREADS
from pytest_videodecode.damage.damage import Damage
from pytest_videodecode.damage.mapping import byte_map
from pytest_videodecode.damage.operators import Scatter, Truncate
from pytest_videodecode.model import Clip, DecodeRequest, Outcome, OutcomeKind

WINDOWS = 48

#: Windows of the damage that leaves hardly a frame whole.
_FEW = 12

#: A window costs up to a decode of the whole clip, so a larger clip has fewer windows (two at least): they and the
#: frames before them have so many pixels in all.
_PIXELS = 100_000_000

#: Frames of one window.
_LENGTH = 3

#: Frames that a decoder may have read ahead: libdav1d holds 8 at most, frame threads one each.
_AHEAD = 8

_DECODED, _LOST = "decoded", "fewer frames without an error"


@dataclass(frozen=True, slots=True)
class Answer:
    """How one window ended, with digests of its pictures in place of them."""

    ask: Ask
    request: DecodeRequest
    ending: str
    pictures: tuple[bytes, ...]

    def __str__(self) -> str:
        return f"frames {self.ask.frames[0]} to {self.ask.frames[-1]} by {self.ask.by}"


def outcome_parity(subject: Subject) -> Finding:
    """Decode random windows of damaged copies at every setting, and compare how each of them ends."""
    clip = subject.clip
    if subject.damaged is None:
        return unsupported(NO_COPIES)
    if not clip.frames:
        return unsupported(NO_FRAME)
    if not ways(subject):
        return unsupported(NO_WAY)
    compared = sides(subject)
    if len(compared) < 2:
        reason = "the twin is asked neither by index nor by timestamp" if subject.twin else NO_THREADS
        return unsupported(f"there is nothing to compare with: {reason}, or name a second decoder as twin")
    faults = Faults()
    tables: dict[str, dict[str, str]] = {}
    for damage, windows in _experiments(clip, subject.seed):
        path = subject.damaged(clip, damage)
        truth = certain(clip, damage, Path(path).read_bytes())
        shown = tables[str(damage)] = {}
        first: list[Answer] = []
        for side in compared:
            came = []
            for ask in side.asks(windows):
                request = side.request(ask, clip, path)
                outcome = side.decode(request)
                came.append(Answer(ask, request, ending(outcome), _digests(outcome)))
                if outcome.kind in NO_ANSWER and not is_refusal(outcome):
                    faults.add(f"{damage}, {side.name}: {incomplete(clip, ask, outcome)} ({table(came)})", request)
                    return faults.finding(outcomes=tables)
            shown[side.name] = table(came)
            first = first or came
            sentence = f"{damage}, {side.name}: {table(came)}, against {compared[0].name}: {table(first)}"
            for what, answer, judged in _differences(clip, truth, first, came):
                faults.add(f"{sentence}; {what}", answer.request, judged=judged)
    return faults.finding(outcomes=tables)


def _experiments(clip: Clip, seed: int) -> Iterator[tuple[Damage, list[tuple[int, ...]]]]:
    """Damages, and the windows asked of each."""
    source = random.Random(seed)
    length = min(_LENGTH, clip.frames, fits(clip, SMALL_PIXELS))
    affordable = max(2, _PIXELS // (clip.frames * clip.width * clip.height))
    starts = [source.randrange(clip.frames - length + 1) for _ in range(min(WINDOWS, affordable))]
    windows = [tuple(range(start, start + length)) for start in starts]

    mapped = byte_map(clip)
    region = "media" if "media" in mapped.present() else "any"
    size = mapped.region(region).size
    yield Damage((Scatter(region=region, count=min(FLIPS, size), seed=seed),)), windows[:_FEW]
    yield Damage((Scatter(region=region, count=max(1, len(clip.keyframes) // 2), seed=seed),)), windows
    yield Damage((Truncate(keep_fraction=KEPT),)), windows


def ending(outcome: Outcome) -> str:
    """What windows are compared by: decoded, the type of the exception, or what came instead of either."""
    match outcome.kind:
        case OutcomeKind.FRAMES:
            return _DECODED
        case OutcomeKind.SILENT_LOSS:
            return _LOST
        case OutcomeKind.HANG | OutcomeKind.CRASH:
            return str(outcome.kind)
    return outcome.error.type if outcome.error else str(outcome.kind)


def table(came: Sequence[Answer]) -> str:
    """``15 decoded, 33 InvalidDataError, 0 hangs``."""
    counts = Counter(answer.ending for answer in came)
    decoded, hangs = counts.pop(_DECODED, 0), counts.pop(str(OutcomeKind.HANG), 0)
    others = [f"{count} {name}" for name, count in sorted(counts.items())]
    return ", ".join([f"{decoded} {_DECODED}", *others, f"{hangs} hangs"])


def _digests(outcome: Outcome) -> tuple[bytes, ...]:
    frames = outcome.frames if outcome.frames is not None else ()
    return tuple(blake2b(frame.tobytes(), digest_size=16, key=str(frame.shape).encode()).digest() for frame in frames)


def _differences(
    clip: Clip, truth: Certain, first: Sequence[Answer], came: Sequence[Answer]
) -> Iterator[tuple[str, Answer, bool]]:
    """What differs, in words; an answer that shows it; whether it is judged."""
    otherwise: dict[bool, list[tuple[Answer, Answer]]] = {True: [], False: []}
    unequal = []
    for one, other in zip(first, came, strict=True):
        if one.ending != other.ending:
            otherwise[not _excused(clip, one, other, truth)].append((one, other))
        elif any(mine != yours for mine, yours in zip(one.pictures, other.pictures, strict=False)):
            unequal.append(other)
    for judged, pairs in otherwise.items():
        if pairs:
            one, other = pairs[0]
            what = f"{len(pairs)} windows end otherwise, such as {other}: {other.ending}, not {one.ending}"
            yield what, other, judged
    if unequal:
        what = f"{len(unequal)} windows return other pixels, such as {unequal[0]}"
        yield what, unequal[0], bit_exact(replace(clip, intact=False))


def _excused(clip: Clip, one: Answer, other: Answer, truth: Certain) -> bool:
    """Whether the threads of FFmpeg's own decoders explain that these two end differently."""
    endings = {one.ending, other.ending}
    if _LOST in endings:
        return False
    if not truth.touched:  # where the damage lies is not known
        return True
    key = max((frame for frame in clip.keyframes if frame <= min(other.ask.frames)), default=0)
    end = max(other.ask.frames) + 1
    met = truth.touched.intersection(range(key, end))
    if _DECODED in endings:
        return not met and not truth.touched.isdisjoint(range(end, end + _AHEAD))
    return clip.codec == "av1" and min(met, default=0) >= clip.frames - _AHEAD
