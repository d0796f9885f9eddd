"""Frame marks: a frame's own number drawn into its picture, and read back from any picture that shows it.

A mark is two rows of twelve blocks: the upper row is the number in binary, the lower one its complement. A bit
counts only where the two blocks differ clearly, so a picture with a damaged, blended or absent mark reads as
None. Blocks are at least 12 x 16 pixels, which survives the coarsest quantisers (AV1 crf 50, x264 crf 40, x265
crf 45, VP9 crf 50, MPEG-4 qscale 20), and grey, so that neither the colour matrix nor the range matters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BITS = 12
#: The highest number that can be drawn.
MAX_NUMBER = 2**BITS - 1
#: The smallest picture that holds a mark, in pixels.
MIN_WIDTH, MIN_HEIGHT = 160, 96

_BLOCK_WIDTH, _BLOCK_HEIGHT, _LEFT, _TOP = 12, 16, 8, 8
_DARK, _LIGHT = 24, 232
# Halfway between full contrast and none: half a block of another frame's bit does not pass.
_LEAST_CONTRAST = 96.0
# Of a block only the middle is read: its edges carry ringing and, in a resized picture, its neighbours.
_CORE = 0.25


def draw(picture: NDArray[np.uint8], number: int) -> None:
    """Draw ``number`` (0 to ``MAX_NUMBER``) onto ``picture`` (H,W,3), in place."""
    height, width = picture.shape[:2]
    if not 0 <= number <= MAX_NUMBER:
        raise ValueError(f"a mark holds 0 to {MAX_NUMBER}, not {number}")
    if width < MIN_WIDTH or height < MIN_HEIGHT:
        raise ValueError(f"a mark needs {MIN_WIDTH}x{MIN_HEIGHT} pixels, the picture has {width}x{height}")
    scale = _scale(width, height)
    for row in range(2):
        for column in range(BITS):
            bit = (number >> (BITS - 1 - column)) & 1
            top, left = (_TOP + row * _BLOCK_HEIGHT) * scale, (_LEFT + column * _BLOCK_WIDTH) * scale
            block = picture[top : top + _BLOCK_HEIGHT * scale, left : left + _BLOCK_WIDTH * scale]
            block[...] = _LIGHT if bit != row else _DARK


def read(frames: NDArray[np.uint8], size: tuple[int, int] | None = None) -> list[int | None]:
    """The number that each picture of ``frames`` (N,H,W,3) shows; None where no mark can be made out.

    ``size`` is the (width, height) that the marks were drawn at, where a decoder has resized the pictures since.
    """
    count, height, width = frames.shape[:3]
    drawn_width, drawn_height = size or (width, height)
    scale = _scale(drawn_width, drawn_height)
    x, y = scale * width / drawn_width, scale * height / drawn_height
    levels = np.empty((count, 2, BITS))
    for row in range(2):
        for column in range(BITS):
            rows = _core(_TOP + row * _BLOCK_HEIGHT, _BLOCK_HEIGHT, y)
            columns = _core(_LEFT + column * _BLOCK_WIDTH, _BLOCK_WIDTH, x)
            block = frames[:, rows, columns]
            levels[:, row, column] = block.mean(axis=(1, 2, 3)) if block.size else 0.0
    contrast = levels[:, 0] - levels[:, 1]
    numbers = (contrast > 0) @ (1 << np.arange(BITS - 1, -1, -1))
    clear = np.abs(contrast).min(axis=1) >= _LEAST_CONTRAST
    return [int(number) if seen else None for number, seen in zip(numbers, clear, strict=True)]


def _scale(width: int, height: int) -> int:
    """By how much the blocks of a large picture are larger, so that its mark outlives scaling it down."""
    return max(1, min(width // MIN_WIDTH, height // MIN_HEIGHT) // 2)


def _core(start: int, length: int, scale: float) -> slice:
    first = round((start + _CORE * length) * scale)
    return slice(first, max(first + 1, round((start + (1 - _CORE) * length) * scale)))
