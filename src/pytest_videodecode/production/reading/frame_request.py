"""What is asked for, by index or by timestamp, and how it is found in a stream of frames."""

from __future__ import annotations

import math
import operator
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from av.video.frame import VideoFrame

from pytest_videodecode.production.errors import FrameIndexError, FrameRequestError, FrameTimestampError
from pytest_videodecode.production.reading.frame_table import FrameTable
from pytest_videodecode.production.reading.stream_facts import StreamFacts
from pytest_videodecode.production.reading.targets import AtRank, AtTime, Target

_T = TypeVar("_T", int, float)

#: What to find, ascending, each with the places in the answer that it belongs to.
Aims = list[tuple[Target, list[int]]]

#: Takes a frame and the places in the answer that it belongs to.
Put = Callable[[VideoFrame, Sequence[int]], None]


@dataclass(frozen=True)
class IndexRequest:
    """Frames by their index in presentation order."""

    indices: tuple[int, ...]
    file: str

    def __len__(self) -> int:
        return len(self.indices)

    def __str__(self) -> str:
        return f"frame index {_range(self.indices)}"

    def targets(self, facts: StreamFacts) -> Aims | None:
        """The frames asked, to be found by the container's index; None where there is none or it has not so many."""
        index, places = facts.index, places_by(self.indices)
        if index is None or max(places) >= index.length:
            return None
        return [(AtRank(rank, index), places[rank]) for rank in sorted(places)]

    def targets_of(self, table: FrameTable) -> Aims | None:
        """The frames asked, to be found at the times that ``table`` has of them; None where it has not so many."""
        places = places_by(self.indices)
        if max(places) >= len(table.pts):
            return None
        return [(AtTime(table.pts[rank], counts=True), places[rank]) for rank in sorted(places)]

    def find(self, frames: Iterable[VideoFrame], time_base: Fraction | None, put: Put) -> None:
        """Puts the frames asked out of ``frames``, all frames of the stream from its first on."""
        places = places_by(self.indices)
        last = max(places)
        count = 0
        for frame in frames:
            if count in places:
                put(frame, places[count])
            if count == last:
                return
            count += 1
        raise FrameIndexError(
            f"frame index {last} asked of {self.file}, which shows {count} frames; ask for less than {count}",
            index=last,
            frames=count,
            file=self.file,
        )


@dataclass(frozen=True)
class TimestampRequest:
    """Frames by time (s): for each the nearest one, no further away than ``tolerance``."""

    seconds: tuple[float | Fraction, ...]
    tolerance: Fraction
    file: str

    def __len__(self) -> int:
        return len(self.seconds)

    def __str__(self) -> str:
        return f"timestamp {_range([float(time) for time in self.seconds])} s"

    def targets(self, facts: StreamFacts) -> Aims:
        """The frames asked, to be found by seeking to their times."""
        places = places_by(float(time) for time in self.seconds)
        reach = float(self.tolerance) * facts.second
        return [(AtTime(time * facts.second, reach), places[time]) for time in sorted(places)]

    @property
    def times(self) -> list[Fraction]:
        """The times asked, exactly."""
        return [Fraction(time) for time in self.seconds]

    def _allowed(self, time: Fraction) -> Fraction:
        # a float cannot say a time such as 1/30 more exactly than this
        return self.tolerance + Fraction(math.ulp(float(time)))

    def targets_of(self, table: FrameTable) -> Aims | None:
        """The frames of ``table`` that are nearest to each time; None where one is too far away."""
        nearest = []
        for time in self.times:
            nearest.append(table.pts[table.nearest(time)])
            if abs(nearest[-1] * table.time_base - time) > self._allowed(time):
                return None
        places = places_by(nearest)
        return [(AtTime(pts), places[pts]) for pts in sorted(places)]

    def find(self, frames: Iterable[VideoFrame], time_base: Fraction | None, put: Put) -> None:
        """Puts the frames asked out of ``frames``, in whatever order their times come (AVI mixes them up).

        A frame less than half a tick from the time asked is the nearest there can be; once every time has such
        a frame the rest need not be decoded.
        """
        if time_base is None:
            raise self._error([], Fraction(1))
        times = self.times
        order = sorted(range(len(times)), key=times.__getitem__)
        asked = [times[place] / time_base for place in order]
        reach = [self._allowed(times[place]) / time_base for place in order]
        furthest = max(reach)
        best: dict[int, tuple[Fraction, VideoFrame]] = {}
        unsettled = set(range(len(asked)))
        seen: list[int] = []
        for frame in frames:
            if frame.pts is None:
                continue
            seen.append(frame.pts)
            near = range(bisect_left(asked, frame.pts - furthest), bisect_right(asked, frame.pts + furthest))
            for i in near:
                distance = abs(asked[i] - frame.pts)
                if distance <= reach[i] and (i not in best or distance < best[i][0]):
                    best[i] = (distance, frame)
                    if distance < Fraction(1, 2):
                        unsettled.discard(i)
            if not unsettled:
                break
        if len(best) < len(asked):
            raise self._error(seen, time_base)
        by_frame: dict[int, tuple[VideoFrame, list[int]]] = {}
        for i, (_, frame) in best.items():
            by_frame.setdefault(id(frame), (frame, []))[1].append(order[i])
        for frame, places in by_frame.values():
            put(frame, places)

    def _error(self, seen: Sequence[int], time_base: Fraction) -> FrameTimestampError:
        if not seen:
            return FrameTimestampError(
                f"timestamp {float(self.seconds[0]):g} s asked of {self.file}, which shows no frame with a time; "
                "ask by frame_indices",
                timestamp=float(self.seconds[0]),
                file=self.file,
            )
        table = FrameTable(tuple(sorted(seen)), time_base)
        distance, worst = max((abs(table.pts[table.nearest(t)] * time_base - t), t) for t in self.times)
        first, last = float(table.pts[0] * time_base), float(table.pts[-1] * time_base)
        return FrameTimestampError(
            f"timestamp {float(worst):.9g} s asked of {self.file} is {float(distance):.3g} s from the nearest of "
            f"its {len(seen)} frames ({first:.9g} to {last:.9g} s), more than the tolerance of "
            f"{float(self.tolerance):g} s; ask for times of frames, or raise tolerance_s",
            timestamp=float(worst),
            distance=float(distance),
            file=self.file,
        )


def places_by(asked: Iterable[_T]) -> dict[_T, list[int]]:
    """For each thing asked, where in the answer it goes: several places if it was asked repeatedly."""
    places: dict[_T, list[int]] = {}
    for place, thing in enumerate(asked):
        places.setdefault(thing, []).append(place)
    return places


def _range(asked: Sequence[float]) -> str:
    low, high = min(asked), max(asked)
    return f"{low:.9g}" if low == high else f"{low:.9g} to {high:.9g}"


def request_of(
    timestamps: Iterable[float] | None, tolerance_s: float, frame_indices: Iterable[int] | None, file: str
) -> IndexRequest | TimestampRequest:
    """The request that the arguments of ``decode_video_frames`` make.

    Raises:
        FrameRequestError: both or neither of the two, nothing in it, or something that is no number.
        FrameIndexError: a negative index.
        FrameTimestampError: a timestamp that is NaN or infinite.
    """
    if (timestamps is None) == (frame_indices is None):
        raise FrameRequestError("give either timestamps or frame_indices, and not both")
    if frame_indices is not None:
        indices = _numbers(frame_indices, operator.index, "frame_indices", "whole numbers")
        if (lowest := min(indices)) < 0:
            raise FrameIndexError(
                f"frame index {lowest} asked of {file}; indices count from 0", index=lowest, file=file
            )
        return IndexRequest(indices, file)
    times = _numbers(timestamps, _real, "timestamps", "seconds")
    for time in times:
        if not math.isfinite(time):
            raise FrameTimestampError(
                f"timestamp {time} asked of {file}; ask for finite times in seconds", float(time), file=file
            )
    (tolerance,) = _numbers([tolerance_s], _real, "tolerance_s", "seconds")
    if not (math.isfinite(tolerance) and tolerance >= 0):
        raise FrameRequestError(f"tolerance_s is {tolerance}; give a finite number of seconds, 0 or more")
    return TimestampRequest(times, Fraction(tolerance), file)


def _numbers(values: Any, convert: Callable[[Any], Any], name: str, kind: str) -> tuple[Any, ...]:
    numbers = []
    value = values
    try:
        for value in values:
            numbers.append(convert(value))
    except (TypeError, ValueError, OverflowError):
        shown = " ".join(repr(value).split())[:60]
        raise FrameRequestError(f"{name} must be a sequence of numbers ({kind}), not {shown}") from None
    if not numbers:
        raise FrameRequestError(f"{name} is empty; ask for one frame at least")
    return tuple(numbers)


def _real(value: Any) -> float | Fraction:
    if isinstance(value, (str, bytes)):
        raise TypeError("text")
    return value if isinstance(value, Fraction) else float(value)
