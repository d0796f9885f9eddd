"""A frame is the same picture however it is reached: in sequence, alone, backwards, after the end of the file."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

from pytest_videodecode.checks.asking import NO_WAY, Ask, fits, ways
from pytest_videodecode.checks.base import Faults, Finding, Subject, unsupported
from pytest_videodecode.checks.compare import NO_ANSWER, bit_exact, shown, wrong
from pytest_videodecode.checks.patterns import late_start
from pytest_videodecode.model import Clip, Outcome

#: Clips of up to this many frames have every frame asked alone.
SHORT = 64

#: About so many frames of a longer clip are asked alone; of every clip, half of them once more, going backwards.
SPREAD = 16

SEQUENCE = "sequential pass"


def seek_parity(subject: Subject) -> Finding:
    """Ask for frames in every order, hold each against the sequential pass, and read its number off the pixels.

    Open GOPs fail just before a keyframe (its leading pictures cannot be decoded after a seek to it), so the
    frames around some keyframes are always among those asked. Only digests of pictures are kept.
    """
    clip = subject.clip
    if not clip.frames:
        return unsupported("the clip shows no frame that could be sought")
    if not (offered := ways(subject)):
        return unsupported(NO_WAY)
    faults = Faults()
    seen: dict[int, bytes] = {}
    asked: dict[str, int] = {}
    errors: dict[str, int] = {}
    for ask in _asks(clip, offered):
        request = ask.request(clip)
        outcome = subject.decode(request)
        asked[ask.name] = asked.get(ask.name, 0) + len(ask.frames)
        if outcome.error:
            errors[outcome.error.type] = errors.get(outcome.error.type, 0) + 1
        if sentence := wrong(clip, ask, outcome):
            faults.add(sentence, request)
        elif sentence := _other_pixels(clip, ask, outcome, seen):
            faults.add(sentence, request, judged=bit_exact(clip))
        if outcome.kind in NO_ANSWER:
            break
    evidence: dict[str, object] = {"frames_asked": asked, "by": list(offered)}
    if errors:
        evidence["errors"] = errors
    return faults.finding(**evidence)


def _asks(clip: Clip, offered: tuple[str, ...]) -> Iterator[Ask]:
    # the jumps go by timestamp where the decoder takes both: the two ways may differ inside it
    by, jump_by = offered[0], offered[-1]
    every = range(clip.frames)
    size = fits(clip)
    for start in range(0, clip.frames, size):
        yield Ask(SEQUENCE, tuple(every[start : start + size]), by)
    chosen = spread(clip)
    targets = every if clip.frames <= SHORT else chosen
    for frame in targets:
        yield Ask("alone", (frame,), by)
    for frame in chosen[::-2]:
        yield Ask("backwards", (frame,), jump_by)
    yield Ask("backwards at once", tuple(reversed(targets))[:size], jump_by)
    last = clip.frames - 1
    for frame in dict.fromkeys((0, late_start(clip))):
        yield Ask("the end", (last,), by)
        yield Ask("after the end", (frame,), by)


def spread(clip: Clip) -> tuple[int, ...]:
    """About ``SPREAD`` frames of ``clip`` in ascending order: the ends, around two keyframes, the rest evenly."""
    inner = [key for key in clip.keyframes if key > 0]
    near = {key + step for key in {*inner[len(inner) // 2 :][:1], *inner[-1:]} for step in (-3, -2, -1, 0, 1)}
    near |= {0, clip.frames - 1}
    even = max(1, SPREAD - len(near))
    near |= {(2 * i + 1) * clip.frames // (2 * even) for i in range(even)}
    return tuple(sorted(frame for frame in near if 0 <= frame < clip.frames))


def _other_pixels(clip: Clip, ask: Ask, outcome: Outcome, seen: dict[int, bytes]) -> str:
    """One sentence on the first picture that is not the one seen before under its number; remembers new ones."""
    for position, frame in enumerate(outcome.frames if outcome.frames is not None else ()):
        asked = ask.frames[position]
        digest = blake2b(frame.tobytes(), digest_size=16, key=str(frame.shape).encode()).digest()
        if seen.setdefault(asked, digest) != digest:
            number = shown(clip, ask, outcome)[position]
            return (
                f"asked frame {asked}, got frame {number} with other pixels than before "
                f"in the {SEQUENCE} ({ask.place(position)})"
            )
    return ""
