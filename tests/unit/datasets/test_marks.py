from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from pytest_videodecode.datasets import marks
from pytest_videodecode.datasets.marks import Mark

LAST = Mark(marks.MAX_EPISODES - 1, marks.MAX_CAMERAS - 1, marks.MAX_FRAMES - 1)


def picture(mark: Mark, width: int = 96, height: int = 64) -> NDArray[np.uint8]:
    drawn = np.full((height, width, 3), 128, dtype=np.uint8)
    marks.draw(drawn, mark)
    return drawn


@pytest.mark.parametrize("mark", [Mark(0, 0, 0), Mark(1, 2, 3), Mark(3, 2, 1), LAST])
@pytest.mark.parametrize("size", [(64, 64), (96, 64), (256, 256), (640, 480)])
def test_what_is_drawn_is_read(mark: Mark, size: tuple[int, int]) -> None:
    assert marks.read(picture(mark, *size)) == [mark]


@pytest.mark.parametrize("bit", range(32))
def test_every_bit_counts_alone(bit: int) -> None:
    number = 1 << bit
    mark = Mark(number >> 18, number >> 14 & 15, number & 2**14 - 1)
    assert marks.read(picture(mark)) == [mark]


def test_every_form_of_a_picture_is_read() -> None:
    frames = np.stack([picture(Mark(1, 0, 7)), picture(Mark(1, 0, 8))])
    first = torch.from_numpy(np.moveaxis(frames, -1, 1).copy())
    wanted = [Mark(1, 0, 7), Mark(1, 0, 8)]
    for form in (frames, first, first.float() / 255, frames.astype(np.float64) / 255):
        assert marks.read(form) == wanted
    assert marks.read(first[1]) == wanted[1:]


def test_no_pictures_have_no_marks() -> None:
    assert marks.read(np.empty((0, 64, 64, 3), dtype=np.uint8)) == []


def test_picture_without_a_clear_mark_reads_as_none() -> None:
    one, other = picture(Mark(0, 0, 1)), picture(Mark(0, 0, 2))
    blended = ((one.astype(int) + other) // 2).astype(np.uint8)
    torn = one.copy()
    torn[:32] = other[:32]
    assert marks.read(np.stack([np.full_like(one, 128), blended, torn, one])) == [None, None, None, Mark(0, 0, 1)]


@pytest.mark.parametrize(
    "mark", [Mark(marks.MAX_EPISODES, 0, 0), Mark(0, 16, 0), Mark(0, 0, marks.MAX_FRAMES), Mark(-1, 0, 0)]
)
def test_number_too_large_is_refused(mark: Mark) -> None:
    with pytest.raises(ValueError, match="holds numbers below"):
        picture(mark)


@pytest.mark.parametrize("shape", [(62, 64, 3), (2, 64, 64, 4), (64, 64), (2, 3, 62, 64)])
def test_what_cannot_bear_a_mark_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="bear no sample marks"):
        marks.read(np.zeros(shape, dtype=np.uint8))
    with pytest.raises(ValueError, match="needs 64x64 pixels"):
        picture(Mark(0, 0, 0), 62, 64)
