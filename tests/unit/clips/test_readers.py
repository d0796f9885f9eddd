from __future__ import annotations

import base64
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_videodecode.clips import reference
from pytest_videodecode.clips.readers import TOLERANCE, ReferenceReader
from pytest_videodecode.clips.truth import Truth

Pictures = NDArray[np.uint8]


def reader(pictures: Pictures) -> ReferenceReader:
    return ReferenceReader(
        Truth(
            codec="av1",
            container="mp4",
            width=64,
            height=48,
            times=tuple(Fraction(number) for number in range(len(pictures))),
            keyframes=(0,),
            digests=tuple(map(reference.digest, pictures)),
            signatures=tuple(base64.b85encode(one.tobytes()).decode() for one in reference.signature(pictures)),
        )
    )


@pytest.fixture
def film() -> Pictures:
    """Six pictures with nothing in common but their colours; the last two are the same."""
    pictures = np.random.default_rng(0).integers(40, 216, (6, 6, 8, 3), dtype=np.uint8).repeat(8, 1).repeat(8, 2)
    pictures[5] = pictures[4]
    return pictures


def brighter(pictures: Pictures, levels: int) -> Pictures:
    return (pictures + np.uint8(levels)).astype(np.uint8)


def test_exact_picture_is_its_frame_whatever_was_expected(film: Pictures) -> None:
    assert reader(film)(film[[2, 0, 3]], [0, 1, 2]) == [2, 0, 3]


def test_expected_frame_wins_among_identical_ones(film: Pictures) -> None:
    assert reader(film)(film[[4, 4]], [4, 5]) == [4, 5]
    assert reader(film)(film[[4, 5]], [0, 99]) == [4, 5]


def test_slightly_different_picture_is_the_nearest_frame(film: Pictures) -> None:
    assert reader(film)(brighter(film[:4], 2), [3, 3, 3, 3]) == [0, 1, 2, 3]


def test_picture_beyond_the_tolerance_is_no_frame(film: Pictures) -> None:
    assert reader(film)(brighter(film[:2], int(TOLERANCE) + 1), [0, 1]) == [None, None]
    assert reader(film)(np.zeros_like(film[:2]), [0, 1]) == [None, None]


def test_resized_picture_is_recognised(film: Pictures) -> None:
    assert reader(film)(film[:4, ::2, ::2], [0, 0, 0, 0]) == [0, 1, 2, 3]


def test_right_frame_of_an_almost_static_scene_is_right() -> None:
    still = np.full((5, 48, 64, 3), 100, np.uint8)
    for number, picture in enumerate(still):
        picture[0, 0] = number
    seen = brighter(still, 1)
    assert reader(still)(seen, [0, 1, 2, 3, 4]) == [0, 1, 2, 3, 4]


def test_expected_frame_that_is_clearly_farther_does_not_win(film: Pictures) -> None:
    assert reader(film)(brighter(film[[1]], 1), [2]) == [1]


@pytest.mark.parametrize("expected", [-1, 6, 1000])
def test_expectation_outside_the_clip_is_no_fault(film: Pictures, expected: int) -> None:
    assert reader(film)(brighter(film[[1]], 1), [expected]) == [1]


def test_clip_without_frames_shows_none() -> None:
    assert reader(np.zeros((0, 48, 64, 3), np.uint8))(np.zeros((1, 48, 64, 3), np.uint8), [0]) == [None]
