"""What a loader counts of itself, in whatever form it says it, as one flat set of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

_CACHES = ("video_decoder_cache", "decoder_cache", "cache")
_ALIASES = {"skipped": ("skipped", "skipped_samples", "samples_skipped"), "size": ("size", "cache_size")}


@dataclass(frozen=True, slots=True)
class Counts:
    """Since the loader began; None for what it does not count. Times are seconds, ``size`` is of now."""

    hits: float | None = None
    misses: float | None = None
    evictions: float | None = None
    size: float | None = None
    decode_s: float | None = None
    fetch_s: float | None = None
    skipped: float | None = None

    def since(self, before: Counts) -> Counts:
        """What came after ``before``; ``size`` is that of now."""
        values = {}
        for field in fields(self):
            now, then = getattr(self, field.name), getattr(before, field.name)
            values[field.name] = now if now is None or field.name == "size" else now - (then or 0)
        return Counts(**values)


def total(counts: Iterable[Counts]) -> Counts:
    """The sum over workers; None where any of them does not count."""
    parts = list(counts)
    values = {}
    for field in fields(Counts):
        each = [getattr(part, field.name) for part in parts]
        values[field.name] = None if None in each or not each else sum(each)
    return Counts(**values)


def read_counts(dataset: Any) -> Counts:
    """What a loader says in ``statistics`` (attribute or method; mapping or object), or in that of its cache."""
    own = _told(dataset, "statistics")
    holders = [own, *(_told(own, name) for name in _CACHES)]
    for name in _CACHES:
        cache = _told(dataset, name)
        holders += [_told(cache, "statistics"), cache]
    return Counts(**{field.name: _number(holders, field.name) for field in fields(Counts)})


def _told(holder: Any, name: str) -> Any:
    found = holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)
    return found() if callable(found) else found


def _number(holders: Iterable[Any], name: str) -> float | None:
    for holder in holders:
        for alias in _ALIASES.get(name, (name,)):
            value = holder.get(alias) if isinstance(holder, Mapping) else getattr(holder, alias, None)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                return value
    return None
