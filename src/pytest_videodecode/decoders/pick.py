"""Choosing the frames asked for out of a sequential decode: no seek, no arithmetic on frame rates."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pytest_videodecode.model import DecodeRequest

T = TypeVar("T")
Picture = NDArray[np.uint8]
#: Frames in presentation order, each with its time in seconds where it has one.
Timed = Iterable[tuple[float | None, T]]


def pick(frames: Timed[T], request: DecodeRequest, to_rgb: Callable[[T], Picture]) -> Iterator[Picture]:
    """The pictures that ``request`` asks for, in the order asked, each as soon as it is known.

    An index counts the frames as they come; a timestamp takes the frame nearest to it. Reading ends with the last
    frame needed. For times that go backwards (H.264 with B-frames in AVI) that is only right while the tolerance
    is below half a frame. An error of ``frames`` passes through, behind the pictures known by then.

    Raises:
        IndexError: for an index that the file does not have.
        ValueError: for a timestamp with no frame within ``tolerance_s``.
    """
    by_index = request.indices is not None
    asked: Sequence[float] = (request.indices if by_index else request.timestamps) or ()
    asked = asked[: request.stop_after]
    if not asked:
        return
    found = (
        _by_index(frames, set(asked), to_rgb)
        if by_index
        else _by_time(frames, set(asked), request.tolerance_s, to_rgb)
    )
    pictures: dict[float, Picture] = {}
    given = 0
    for key, picture in found:
        pictures[key] = picture
        while asked[given] in pictures:
            yield pictures[asked[given]]
            given += 1
            if given == len(asked):
                return


def _by_index(frames: Timed[T], asked: set[float], to_rgb: Callable[[T], Picture]) -> Iterator[tuple[float, Picture]]:
    count = 0
    for count, (_, frame) in enumerate(frames, 1):
        if count - 1 in asked:
            yield count - 1, to_rgb(frame)
    absent = next(index for index in asked if not 0 <= index < count)
    raise IndexError(f"frame {absent} was asked for; the file shows {count} frames")


def _by_time(
    frames: Timed[T], asked: set[float], tolerance: float, to_rgb: Callable[[T], Picture]
) -> Iterator[tuple[float, Picture]]:
    distances = dict.fromkeys(asked, math.inf)
    best: dict[float, Picture] = {}
    try:
        for time, frame in frames:
            if time is None:
                continue
            for key, known in distances.items():
                distance = abs(time - key)
                if not distance < known:
                    continue
                distances[key] = distance
                if distance <= tolerance:
                    best[key] = to_rgb(frame)
            # behind a frame at or after the timestamp nothing nearer comes
            for key in [key for key in best if time >= key]:
                yield key, best.pop(key)
                del distances[key]
    except Exception:
        yield from best.items()
        raise
    yield from best.items()
    absent = next(key for key in distances if key not in best)
    raise _too_far(absent, distances[absent], tolerance)


def nearest(times: NDArray[np.floating[Any]], request: DecodeRequest) -> list[int]:
    """For each timestamp of ``request`` the place of the nearest in ``times`` (N seconds).

    Raises:
        ValueError: for a timestamp with none within ``tolerance_s``.
    """
    places = []
    for asked in request.timestamps or ():
        distances = np.abs(times - asked)
        place = int(np.argmin(distances)) if distances.size else 0
        if not distances.size or not distances[place] <= request.tolerance_s:
            raise _too_far(asked, float(distances[place]) if distances.size else math.inf, request.tolerance_s)
        places.append(place)
    return places


def _too_far(timestamp: float, distance: float, tolerance: float) -> ValueError:
    return ValueError(
        f"no frame within {tolerance:g} s of timestamp {timestamp:g}; the nearest is {distance:g} s away"
    )
