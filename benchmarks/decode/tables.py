"""What was measured, as text and as JSON."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.decode.cells import Cell
from benchmarks.decode.timing import Timing, ratio
from pytest_videodecode.environment import environment, package_version
from pytest_videodecode.jsonform import to_json
from pytest_videodecode.measure.machine import this_machine

OURS, BEST, SEED, FLOOR = "production", "torchcodec", "seed", "floor"

#: What the reader is held to: times the seed's speed by pattern, and CPU over that of the floor.
_AGAINST_SEED = {"window": 2.0, "sarm": 6.0}
_OVER_FLOOR = 1.15

_PACKAGES = ("av", "torch", "torchcodec", "decord2", "opencv-python-headless", "numpy")
_WIDTH = 22


@dataclass(frozen=True, slots=True)
class Result:
    """One cell, measured; ``bytes_per_frame`` is the mean size of a frame in its clips."""

    cell: Cell
    bytes_per_frame: float
    timings: Mapping[str, Timing]

    def times(self, name: str) -> Timing | None:
        """What the peer took; None where it is missing."""
        timing = self.timings.get(name)
        return timing if timing and timing.wall_s and not timing.missing else None

    def faster(self, name: str, than: str) -> float | None:
        """How many times as fast ``name`` is as ``than``; None where one of them is missing."""
        ours, theirs = self.times(name), self.times(than)
        return ratio(theirs.wall_s, ours.wall_s) if ours and theirs else None

    def cheaper(self, name: str, than: str) -> float | None:
        """How many times less CPU ``name`` takes than ``than``; None where one of them is missing."""
        ours, theirs = self.times(name), self.times(than)
        return ratio(theirs.cpu_s, ours.cpu_s) if ours and theirs else None


def table(results: Sequence[Result]) -> Iterator[str]:
    """A block of lines for each group of cells: peers down, patterns across."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(result.cell.group, []).append(result)
    for group, members in groups.items():
        yield ""
        yield f"{group}, {members[0].bytes_per_frame / 1000:.1f} kB a frame; median of a request"
        yield " " * _WIDTH + "".join(f"| {each.cell.pattern:<37}" for each in members)
        yield " " * _WIDTH + "| wall ms  CPU ms  × tc × seed CPU/fl  " * len(members)
        for name in members[0].timings:
            yield f"{name:<{_WIDTH}}" + "".join(f"|{_numbers(each, name)}" for each in members)
        yield from _remarks(members)


def _numbers(result: Result, name: str) -> str:
    timing = result.times(name)
    if timing is None:
        return f"{'missing':>8}".ljust(38)
    ratios = (result.faster(name, BEST), result.faster(name, SEED), result.cheaper(FLOOR, name))
    shown = "".join(f"{'-' if each is None else f'{each:.2f}':>7}" for each in ratios)
    return f"{timing.wall * 1e3:8.2f}{timing.cpu * 1e3:8.2f}{shown} "


def _remarks(results: Sequence[Result]) -> Iterator[str]:
    said = set()
    different = False
    for result in results:
        for name, timing in result.timings.items():
            if timing.missing and (name, timing.missing) not in said:
                said.add((name, timing.missing))
                yield f"  missing {name}: {timing.missing}"
            if timing.difference:
                different = True
                yield f"  pixels of {name} in {result.cell.pattern}: {timing.difference}"
    if not different:
        yield "  pixels: all peers the same, bit by bit"


def summary(results: Sequence[Result]) -> Iterator[str]:
    """What is asked of the reader that ships, and how often it holds."""
    yield ""
    yield f"{OURS}, its clips kept open, over {len(results)} cells:"
    yield from _summarised(f"speed over that of {BEST} (≥ 1)", [(r.faster(OURS, BEST), 1.0, r) for r in results])
    yield from _summarised(f"CPU of {BEST} / ours (≥ 1)", [(r.cheaper(OURS, BEST), 1.0, r) for r in results])
    for pattern, least in _AGAINST_SEED.items():
        of_pattern = [r for r in results if r.cell.pattern == pattern and r.cell.gop == 2]
        judged = [(r.faster(OURS, SEED), least, r) for r in of_pattern]
        yield from _summarised(f"speed over that of the {SEED}, {pattern} at GOP 2 (≥ {least:g})", judged)
    of_floor = [(r.cheaper(OURS, FLOOR), 1 / _OVER_FLOOR, r) for r in results]
    yield from _summarised(f"CPU of the {FLOOR} / ours (≥ {1 / _OVER_FLOOR:.2f})", of_floor)


def _summarised(what: str, judged: Sequence[tuple[float | None, float, Result]]) -> Iterator[str]:
    known = [(value, least, result) for value, least, result in judged if value is not None]
    if not known:
        yield f"  {what}: not measured"
        return
    holds = sum(value >= least for value, least, _ in known)
    worst, _, where = min(known, key=lambda each: each[0] / each[1])
    median = statistics.median(value for value, _, _ in known)
    yield f"  {what}: {holds} of {len(known)} cells; median {median:.2f}, least {worst:.2f} ({where.cell.name})"


def report(results: Sequence[Result]) -> dict[str, Any]:
    """All that is needed to read the figures elsewhere, as builtin types; times in seconds."""
    return {
        "schema": "videodecode-decode-benchmark/1",
        "machine": to_json(this_machine()),
        "environment": environment(),
        "versions": {name: package_version(name) for name in _PACKAGES},
        "cells": [
            {
                **asdict(result.cell),
                "bytes_per_frame": result.bytes_per_frame,
                "peers": {
                    name: {
                        **to_json(timing),
                        "wall_median_s": timing.wall if timing.wall_s else None,
                        "cpu_median_s": timing.cpu if timing.cpu_s else None,
                        "times_as_fast_as_torchcodec": result.faster(name, BEST),
                        "times_as_fast_as_seed": result.faster(name, SEED),
                        "cpu_over_floor": result.cheaper(FLOOR, name),
                    }
                    for name, timing in result.timings.items()
                },
            }
            for result in results
        ],
    }
