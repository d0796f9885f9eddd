from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_videodecode.decoders.pick import nearest, pick
from pytest_videodecode.model import DecodeRequest

RATE = 10.0


def picture(number: int) -> NDArray[np.uint8]:
    return np.full((1, 1, 3), number, np.uint8)


class Film:
    """Frames 0…n-1 with times, which remembers how far it was read, and may break."""

    def __init__(self, times: list[float | None], breaks_at: int | None = None) -> None:
        self.times = times
        self.breaks_at = breaks_at
        self.read = 0
        self.converted: list[int] = []

    def __iter__(self) -> Iterator[tuple[float | None, int]]:
        for number, time in enumerate(self.times):
            if number == self.breaks_at:
                raise OSError("damaged")
            self.read += 1
            yield time, number

    def to_rgb(self, number: int) -> NDArray[np.uint8]:
        self.converted.append(number)
        return picture(number)


def film(count: int = 20, **kwargs: Any) -> Film:
    return Film([number / RATE for number in range(count)], **kwargs)


def request(**kwargs: Any) -> DecodeRequest:
    return DecodeRequest(path="film", **kwargs)


def picked(source: Film, **kwargs: Any) -> list[int]:
    return [int(rgb[0, 0, 0]) for rgb in pick(source, request(**kwargs), source.to_rgb)]


@pytest.mark.parametrize("indices", [(0,), (4, 5, 6), (7, 2, 2, 19), (3, 3), ()])
def test_indices_come_in_the_order_asked(indices: tuple[int, ...]) -> None:
    assert picked(film(), indices=indices) == list(indices)


@pytest.mark.parametrize("numbers", [(0,), (4, 5, 6), (7, 2, 2, 19), ()])
def test_timestamps_come_in_the_order_asked(numbers: tuple[int, ...]) -> None:
    assert picked(film(), timestamps=tuple(number / RATE for number in numbers)) == list(numbers)


def test_reading_ends_with_the_last_frame_needed() -> None:
    by_index, by_time = film(), film()
    picked(by_index, indices=(5, 2))
    picked(by_time, timestamps=(0.5, 0.2))
    assert by_index.read == by_time.read == 6
    assert by_index.converted == by_time.converted == [2, 5]


def test_nothing_is_read_where_nothing_is_asked() -> None:
    source = film()
    picked(source, indices=())
    picked(source, timestamps=(0.5,), stop_after=0)
    assert source.read == 0


def test_each_picture_is_given_as_soon_as_it_is_known() -> None:
    source = film()
    pictures = pick(source, request(indices=(1, 4)), source.to_rgb)
    assert next(pictures)[0, 0, 0] == 1
    assert source.read == 2


def test_leaving_early_reads_no_further() -> None:
    source = film()
    assert picked(source, indices=(2, 5, 9), stop_after=1) == [2]
    assert source.read == 3


@pytest.mark.parametrize(
    ("timestamp", "tolerance", "number"),
    [(0.30004, 1e-4, 3), (0.29996, 1e-4, 3), (0.34, 0.06, 3), (0.36, 0.06, 4), (0.34, 1.0, 3), (0.0, 10.0, 0)],
)
def test_timestamp_takes_the_nearest_frame(timestamp: float, tolerance: float, number: int) -> None:
    assert picked(film(), timestamps=(timestamp,), tolerance_s=tolerance) == [number]


def test_of_two_frames_equally_near_the_earlier_is_taken() -> None:
    assert picked(Film([0.0, 0.25, 0.75]), timestamps=(0.5,), tolerance_s=1.0) == [1]
    assert picked(Film([0.0, 0.25, 0.25]), timestamps=(0.25,)) == [1]


def test_frames_without_a_time_count_for_indices_only() -> None:
    source = [None, 0.0, None, 0.1]
    assert picked(Film([*source]), indices=(2,)) == [2]
    assert picked(Film([*source]), timestamps=(0.1,)) == [3]


def test_times_that_go_backwards_are_followed() -> None:
    times: list[float | None] = [0.1, 0.3, 0.4, 0.2, 0.6, 0.5]
    assert picked(Film(times), timestamps=(0.1, 0.2, 0.3, 0.5, 0.6)) == [0, 3, 1, 5, 4]


@pytest.mark.parametrize(
    ("indices", "given", "message"),
    [
        ((0, 20), [0], "frame 20 was asked for; the file shows 20 frames"),
        ((-1,), [], "frame -1 was asked for; the file shows 20 frames"),
        ((21, 3), [], "frame 21 was asked for; the file shows 20 frames"),
    ],
)
def test_index_that_is_not_there_is_an_error_behind_the_frames_before_it(
    indices: tuple[int, ...], given: list[int], message: str
) -> None:
    assert_breaks(film(), IndexError, message, given, indices=indices)


@pytest.mark.parametrize(
    ("timestamps", "given", "message"),
    [
        ((0.1, 2.0), [1], r"no frame within 0.0001 s of timestamp 2; the nearest is 0.1 s away"),
        ((0.35,), [], r"no frame within 0.0001 s of timestamp 0.35; the nearest is 0.05 s away"),
        ((-0.1,), [], r"no frame within 0.0001 s of timestamp -0.1; the nearest is 0.1 s away"),
        ((math.nan, 0.1), [], r"no frame within 0.0001 s of timestamp nan"),
        ((math.inf,), [], r"no frame within 0.0001 s of timestamp inf"),
    ],
)
def test_timestamp_off_every_frame_is_an_error_naming_the_distance(
    timestamps: tuple[float, ...], given: list[int], message: str
) -> None:
    assert_breaks(film(), ValueError, message, given, timestamps=timestamps)


@pytest.mark.parametrize(
    "asked",
    [{"indices": (0, 6, 7, 9)}, {"timestamps": (0.0, 0.6, 0.7, 0.9)}, {"timestamps": (0.0, 0.6, 0.70001, 0.9)}],
)
def test_pictures_known_before_damage_are_given_before_its_error(asked: dict[str, Any]) -> None:
    assert_breaks(film(breaks_at=8), OSError, "damaged", [0, 6, 7], **asked)


def assert_breaks(source: Film, error: type[Exception], message: str, given: list[int], **asked: Any) -> None:
    pictures = pick(source, request(**asked), source.to_rgb)
    seen = [int(next(pictures)[0, 0, 0]) for _ in given]
    with pytest.raises(error, match=message):
        next(pictures)
    assert seen == given


def test_nearest_gives_places_and_judges_the_distance() -> None:
    times = np.array([0.0, 0.1, 0.2])
    assert nearest(times, request(timestamps=(0.2, 0.00001))) == [2, 0]
    for timestamps in ((0.05,), (math.nan,)):
        with pytest.raises(ValueError, match=r"no frame within 0\.0001 s"):
            nearest(times, request(timestamps=timestamps))
    with pytest.raises(ValueError, match="the nearest is inf s away"):
        nearest(np.empty(0), request(timestamps=(0.0,)))
