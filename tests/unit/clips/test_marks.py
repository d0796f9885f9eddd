from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_videodecode.clips import marks

NUMBERS = [0, 1, 2, 3, *(2**bit for bit in range(2, marks.BITS)), 1365, 2730, marks.MAX_NUMBER]


def marked(numbers: list[int], width: int = 160, height: int = 96) -> NDArray[np.uint8]:
    pictures = np.full((len(numbers), height, width, 3), 128, np.uint8)
    for picture, number in zip(pictures, numbers, strict=True):
        marks.draw(picture, number)
    return pictures


@pytest.mark.parametrize(("width", "height"), [(160, 96), (161, 97), (192, 128), (1280, 720)])
def test_every_bit_is_read_back_at_every_size(width: int, height: int) -> None:
    assert marks.read(marked(NUMBERS, width, height)) == NUMBERS


def test_mark_survives_limited_range_taken_for_full_and_the_reverse() -> None:
    pictures = marked(NUMBERS).astype(float)
    squeezed = (16 + pictures * 219 / 255).astype(np.uint8)
    stretched = np.clip((pictures - 16) * 255 / 219, 0, 255).astype(np.uint8)
    assert marks.read(squeezed) == NUMBERS
    assert marks.read(stretched) == NUMBERS


def test_mark_is_read_from_pictures_that_were_resized() -> None:
    halved = marked(NUMBERS, 192, 128)[:, ::2, ::2]
    stretched = marked(NUMBERS, 192, 128)[:, np.arange(224) * 128 // 224][:, :, np.arange(300) * 192 // 300]
    assert marks.read(halved, (192, 128)) == NUMBERS
    assert marks.read(stretched, (192, 128)) == NUMBERS


def test_blend_of_two_frames_shows_neither() -> None:
    seven, eight = marked([7]).astype(float), marked([8]).astype(float)
    assert marks.read(((seven + eight) / 2).astype(np.uint8)) == [None]


@pytest.mark.parametrize("level", [0, 128, 255])
def test_flat_picture_shows_no_frame(level: int) -> None:
    assert marks.read(np.full((2, 96, 160, 3), level, np.uint8)) == [None, None]


def test_noise_shows_no_frame() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (16, 96, 160, 3), dtype=np.uint8)
    assert marks.read(noise) == [None] * 16


def test_pictures_too_small_for_a_mark_show_no_frame() -> None:
    assert marks.read(np.zeros((1, 1, 1, 3), np.uint8), (192, 128)) == [None]


def test_no_pictures_give_no_numbers() -> None:
    assert marks.read(np.zeros((0, 96, 160, 3), np.uint8)) == []


@pytest.mark.parametrize("number", [-1, marks.MAX_NUMBER + 1])
def test_number_that_does_not_fit_is_refused(number: int) -> None:
    with pytest.raises(ValueError, match="a mark holds 0 to 4095"):
        marked([number])


@pytest.mark.parametrize(("width", "height"), [(159, 96), (160, 95)])
def test_picture_that_is_too_small_is_refused(width: int, height: int) -> None:
    with pytest.raises(ValueError, match="a mark needs 160x96 pixels"):
        marked([0], width, height)
