"""When the frames of a synthetic clip are shown."""

from __future__ import annotations

from fractions import Fraction

from pytest_videodecode.model import ClipSpec

# Frame durations of a variable-rate clip, in quarters of a nominal frame: irregular, four on average, and wide
# enough that `round(t * rate)` names the wrong frame for many of them.
_PATTERN = (4, 1, 6, 2, 9, 3, 3)
_QUARTERS = 4


def tick(spec: ClipSpec) -> Fraction:
    """The time base, in seconds, that holds every frame time of ``spec`` exactly."""
    step = 1 / (spec.rate * (_QUARTERS if spec.variable_rate else 1))
    common = step.denominator * spec.start.denominator
    a, b = int(step * common), int(spec.start * common)
    while b:
        a, b = b, a % b
    return Fraction(a, common)


def frame_time(spec: ClipSpec, number: int) -> Fraction:
    """When frame ``number`` is shown, in seconds; negative numbers give decoding times before the first frame."""
    if not spec.variable_rate or number < 0:
        return spec.start + number / spec.rate
    rounds, rest = divmod(number, len(_PATTERN))
    quarters = rounds * sum(_PATTERN) + sum(_PATTERN[:rest])
    return spec.start + Fraction(quarters, _QUARTERS) / spec.rate
