"""Access patterns: the ways in which training code reads a clip, as lists of frame numbers.

``strided`` is the window of video policies (9 frames, every 4th of 33); the late patterns begin between two
keyframes, so that a reader that seeks must decode its way up to the first frame asked.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

from pytest_videodecode.checks.asking import INDEX, Ask, fits
from pytest_videodecode.model import Clip

WINDOW = 9
STRIDE = 4
DENSE = 33


def patterns(clip: Clip, seed: int, by: str = INDEX) -> tuple[Ask, ...]:
    """Every pattern that ``clip`` has frames for, each cut to what one request may hold; equal ones only once.

    A clip of one frame has one pattern beside ``repeated``; a clip of none has none.
    """
    count = clip.frames
    if not count:
        return ()
    late = late_start(clip)
    span = WINDOW * STRIDE - STRIDE + 1
    named: dict[str, Sequence[int]] = {
        "start window": range(min(WINDOW, count)),
        "late window": range(late, min(late + WINDOW, count)),
        "tail": range(max(0, count - WINDOW), count),
        "single": (count // 2,),
        "strided": range(max(0, min(late, count - span)), count, STRIDE)[:WINDOW],
        "dense": range(count // 3, min(count // 3 + DENSE, count)),
        "whole clip": range(count),
        "unsorted": unsorted(clip, seed),
        "repeated": _repeated(clip, seed),
    }
    asks: dict[tuple[int, ...], Ask] = {}
    for name, numbers in named.items():
        frames = tuple(numbers[: fits(clip)])
        asks.setdefault(frames, Ask(name, frames, by))
    return tuple(asks.values())


def late_window(clip: Clip, by: str = INDEX) -> Ask:
    """The window that needs a keyframe in mid-stream; ``clip`` shows at least one frame."""
    start = late_start(clip)
    return Ask("late window", tuple(range(start, min(start + min(WINDOW, fits(clip)), clip.frames))), by)


def late_start(clip: Clip) -> int:
    """A frame of the later half that lies between two keyframes, where the clip has such a frame."""
    count = clip.frames
    gops = pairwise([*clip.keyframes, count])
    late = [(key, after - key) for key, after in gops if key >= max(1, count // 2)]
    if not late:
        return count * 3 // 4  # one long GOP
    key, length = late[len(late) // 2]
    return key + length // 2


def unsorted(clip: Clip, seed: int) -> tuple[int, ...]:
    """Up to 12 different frames, never in ascending order where there are two of them."""
    generator = random.Random(seed)
    frames = generator.sample(range(clip.frames), min(12, clip.frames, fits(clip)))
    if frames == sorted(frames):
        frames.reverse()
    return tuple(frames)


def _repeated(clip: Clip, seed: int) -> tuple[int, ...]:
    """Frames asked twice: next to each other, and again after another one."""
    a, b, *_ = (*unsorted(clip, seed + 1), 0, 0)
    return (a, a, b, a, b, b)
