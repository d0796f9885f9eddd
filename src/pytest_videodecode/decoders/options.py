"""Reading the options of a decoder spec, which are text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from pytest_videodecode.errors import DecoderSpecError

Scalar = str | int | float | bool | None

#: Options that every decoder has: the thread count of requests that ask for none, and the pool size it promises.
COMMON = ("threads", "thread_cap")

#: FFmpeg takes any int; far more threads than this no machine can start.
_MAX_COUNT = 100_000


def count(name: str, text: str) -> int:
    """A thread count or cap; 0 is FFmpeg's automatic choice.

    Raises:
        DecoderSpecError: for anything but ASCII digits.
    """
    if not (text.isascii() and text.isdigit()) or len(text) > 6 or int(text) > _MAX_COUNT:
        raise DecoderSpecError(f"option {name}={text}: not a count; give digits, 0 to {_MAX_COUNT}")
    return int(text)


def choice(name: str, text: str, known: Iterable[str]) -> str:
    """``text`` in the letter case in which ``known`` has it.

    Raises:
        DecoderSpecError: where it is none of them.
    """
    by_fold = {item.casefold(): item for item in known}
    if text.casefold() not in by_fold:
        raise DecoderSpecError(f"option {name}={text}: unknown value; known are {', '.join(by_fold.values())}")
    return by_fold[text.casefold()]


def scalar(text: str) -> Scalar:
    """``text`` as the JSON scalar it spells (``3``, ``0.5``, ``true``, ``null``, ``"3"``), else itself."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if value is None or isinstance(value, (bool, int, float, str)) else text


def refuse_unknown(decoder: str, options: Mapping[str, str], known: Iterable[str]) -> None:
    """A ``DecoderSpecError`` for the first of ``options`` that is neither among ``known`` nor common to all."""
    known = [*COMMON, *known]
    for name in options:
        if name not in known:
            raise DecoderSpecError(f"{decoder} has no option {name!r}; it has {', '.join(known)}")
