"""Loaders say what they count in different forms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from streaming_benchmark.statistics import Counts, read_counts


@dataclass
class Cache:
    hits: int = 3
    misses: int = 1
    evictions: int = 0
    size: int = 2


@dataclass
class Statistics:
    decode_s: float = 1.5
    video_decoder_cache: Cache = field(default_factory=Cache)


class Holder:
    def __init__(self, **held: Any) -> None:
        vars(self).update(held)


@pytest.mark.parametrize(
    "loader",
    [
        Holder(statistics=Statistics()),
        Holder(statistics=lambda: {"decode_s": 1.5, "hits": 3, "misses": 1, "evictions": 0, "size": 2}),
        Holder(statistics={"decode_s": 1.5, "cache": {"hits": 3, "misses": 1, "evictions": 0, "size": 2}}),
        Holder(statistics={"decode_s": 1.5}, decoder_cache=Cache()),
        Holder(statistics={"decode_s": 1.5}, video_decoder_cache=Holder(statistics=lambda: vars(Cache()))),
    ],
    ids=["dataclass", "method", "nested", "own-cache", "statistics-of-the-cache"],
)
def test_forms_are_read_alike(loader: object) -> None:
    assert read_counts(loader) == Counts(hits=3, misses=1, evictions=0, size=2, decode_s=1.5)


def test_loader_that_says_nothing_counts_nothing() -> None:
    assert read_counts(object()) == Counts()
