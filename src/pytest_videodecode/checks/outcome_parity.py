"""A damaged clip ends the same way at every thread setting, and in a second decoder where one is given.

The experiment that this package grew from: 200 scattered flips, or a file cut at 60 %, decoded over 48 random
windows, the outcomes counted per side. On a clip so much smaller than the one used there 200 flips leave nothing
whole, so one flip for every second GOP is a third damage.

Compared is whether a window was decoded, and the type of the exception where it was not. How many pictures came
before an exception is not: frame threads deliver later. Pixels are judged on generated AV1 clips; other codecs
conceal differently at every setting, and from run to run with frame threads (10 of 12 damaged H.264 files), so there
they are reported. Frame threads also hide errors that slice threads raise (HEVC cut short: 216 InvalidDataError
against none). That is judged: a reader that offers a setting under which damage goes unnoticed has this fault, even
where FFmpeg is at the bottom of it; a reader that does not offer it has not.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from pytest_videodecode.checks.asking import NO_WAY, SMALL_PIXELS, Ask, fits, ways
from pytest_videodecode.checks.base import Faults, Finding, Subject, unsupported
from pytest_videodecode.checks.compare import NO_ANSWER, bit_exact, incomplete
from pytest_videodecode.checks.damage_outcome import NO_COPIES, NO_FRAME
from pytest_videodecode.checks.damage_set import FLIPS, KEPT
from pytest_videodecode.checks.damaged_answer import is_refusal
from pytest_videodecode.checks.thread_parity import NO_THREADS, Setting
from pytest_videodecode.damage.damage import Damage
from pytest_videodecode.damage.mapping import byte_map
from pytest_videodecode.damage.operators import Scatter, Truncate
from pytest_videodecode.errors import Unsupported
from pytest_videodecode.model import Clip, DecodeRequest, Outcome, OutcomeKind

WINDOWS = 48

#: Frames of one window.
_LENGTH = 3

_DECODED, _LOST = "decoded", "fewer frames without an error"


@dataclass(frozen=True, slots=True)
class Answer:
    """How one window ended, with digests of its pictures in place of them."""

    ask: Ask
    request: DecodeRequest
    ending: str
    pictures: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """One way of decoding: a thread setting of the decoder, or the second decoder (``setting`` None)."""

    name: str
    decode: Callable[[DecodeRequest], Outcome]
    ways: tuple[str, ...]
    setting: Setting | None = None

    def asks(self, windows: Sequence[tuple[int, ...]]) -> Iterator[Ask]:
        """One for each window, by every way of asking in turn."""
        for number, frames in enumerate(windows):
            yield Ask("random window", frames, self.ways[number % len(self.ways)])

    def request(self, ask: Ask, clip: Clip, path: str) -> DecodeRequest:
        """The request to the damaged copy at ``path``."""
        request = replace(ask.request(clip), path=path)
        if self.setting is None:
            return request
        return replace(request, threads=self.setting.threads, thread_type=self.setting.thread_type)


def outcome_parity(subject: Subject) -> Finding:
    """Decode random windows of damaged copies at every setting, and compare how each of them ends."""
    clip = subject.clip
    if subject.damaged is None:
        return unsupported(NO_COPIES)
    if not clip.frames:
        return unsupported(NO_FRAME)
    if not ways(subject):
        return unsupported(NO_WAY)
    sides = [*_settings(subject), *_twin(subject)]
    if len(sides) < 2:
        reason = "the twin can be asked neither by index nor by timestamp" if subject.twin else NO_THREADS
        return unsupported(f"there is nothing to compare with: {reason}, or name a second decoder as twin")
    windows = _windows(clip, subject.seed)
    faults = Faults()
    tables: dict[str, dict[str, str]] = {}
    for damage in _damages(clip, subject.seed):
        path = subject.damaged(damage)
        tables[str(damage)] = {}
        first: list[Answer] = []
        for side in sides:
            came: list[Answer] = []
            for ask in side.asks(windows):
                request = side.request(ask, clip, path)
                outcome = side.decode(request)
                came.append(Answer(ask, request, ending(outcome), _digests(outcome)))
                if outcome.kind in NO_ANSWER and not is_refusal(outcome):
                    faults.add(f"{damage}, {side.name}: {incomplete(clip, ask, outcome)} ({table(came)})", request)
                    return faults.finding(windows=len(windows), outcomes=tables)
            tables[str(damage)][side.name] = table(came)
            first = first or came
            _compare(clip, f"{damage}, {side.name}", first, came, faults)
    return faults.finding(windows=len(windows), sides=[side.name for side in sides], outcomes=tables)


def _settings(subject: Subject) -> Iterator[Side]:
    """One thread first; every count, and at the highest every thread type."""
    counts = sorted(dict.fromkeys(subject.threads), key=lambda count: count != 1)
    settings = [Setting(count, None) for count in counts]
    settings += [Setting(max(counts), kind) for kind in subject.decoder.thread_types]
    for setting in settings if subject.decoder.threads_by else ():
        yield Side(str(setting), subject.decode, ways(subject), setting)
    if not subject.decoder.threads_by:
        yield Side("this decoder", subject.decode, ways(subject))


def _twin(subject: Subject) -> Iterator[Side]:
    """The second decoder, asked as it can be; nothing where there is none, or no way."""
    twin, clip = subject.twin, subject.clip
    if twin is None:
        return
    any_way = ways(replace(subject, decoder=replace(subject.decoder, asks=("indices", "timestamps"))))
    name = f"{Unsupported.__module__}.{Unsupported.__qualname__}"
    tried = {by: twin(Ask("first frame", (0,), by).request(clip)).error for by in any_way}
    if offered := tuple(by for by, error in tried.items() if error is None or name not in error.bases):
        yield Side("twin", twin, offered)


def _damages(clip: Clip, seed: int) -> Iterator[Damage]:
    media = next((name for name in ("media", "any") if name in byte_map(clip).present()), "any")
    size = byte_map(clip).region(media).size
    for count in (FLIPS, max(1, len(clip.keyframes) // 2)):
        yield Damage((Scatter(region=media, count=min(count, size), seed=seed),))
    yield Damage((Truncate(keep_fraction=KEPT),))


def _windows(clip: Clip, seed: int) -> list[tuple[int, ...]]:
    source = random.Random(seed)
    length = min(_LENGTH, clip.frames, fits(clip, SMALL_PIXELS))
    starts = [source.randrange(clip.frames - length + 1) for _ in range(WINDOWS)]
    return [tuple(range(start, start + length)) for start in starts]


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


def _compare(clip: Clip, side: str, first: Sequence[Answer], came: Sequence[Answer], faults: Faults) -> None:
    """Add a sentence for windows that end otherwise, and one for pictures that differ, each with the first of them."""
    pairs = list(zip(first, came, strict=True))
    counts = f"{table(came)} where {table(first)} came with the first setting"
    if others := [(one, other) for one, other in pairs if one.ending != other.ending]:
        one, other = others[0]
        faults.add(
            f"{side}: {counts}; {len(others)} of {len(pairs)} windows end otherwise, such as frames "
            f"{other.ask.frames[0]} to {other.ask.frames[-1]} by {other.ask.by}: {other.ending}, not {one.ending}",
            other.request,
        )
    if unequal := [(one, other) for one, other in pairs if _differ(one, other)]:
        one, other = unequal[0]
        faults.add(
            f"{side}: {len(unequal)} of {len(pairs)} windows return other pixels, such as frames "
            f"{other.ask.frames[0]} to {other.ask.frames[-1]} by {other.ask.by} ({counts})",
            other.request,
            judged=bit_exact(replace(clip, intact=False)),
        )


def _differ(one: Answer, other: Answer) -> bool:
    """Whether a picture that came on both sides differs."""
    return any(mine != yours for mine, yours in zip(one.pictures, other.pictures, strict=False))
