"""How the options of the benchmarks are read."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any


def list_of(item: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    """Reads ``a,b,c``, each by ``item``."""

    def read(text: str) -> list[Any]:
        return [item(part.strip()) for part in text.split(",")]

    return read


def one_of(names: Mapping[str, Any]) -> Callable[[str], str]:
    """Reads one of ``names``."""

    def read(text: str) -> str:
        if text not in names:
            raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(names)}")
        return text

    return read


def positive(text: str) -> int:
    """Reads a whole number from 1 on."""
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 10**6):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 on")
    return int(text)


def seconds(text: str) -> float:
    """Reads a time above 0, in seconds."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return value


def size(text: str) -> tuple[int, int]:
    """Reads ``WIDTHxHEIGHT``."""
    width, _, height = text.partition("x")
    return positive(width), positive(height)
