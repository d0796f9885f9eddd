"""Sample marks: episode, camera and frame number drawn into one picture, and read back from any that shows it.

The idea is that of ``clips.marks`` with more bits in less room: 64 square blocks in eight rows of eight. The upper
four rows are the number in binary, the lower four its complement, and a bit counts only where the two differ
clearly: a picture with a damaged, blended or absent mark reads as None. Blocks have 8 pixels a side at least, grey,
and a sixteenth of the smaller side of larger pictures.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

#: The smallest picture that holds a mark, in pixels; also the smallest that libsvtav1 encodes.
MIN_SIDE = 64
MAX_EPISODES, MAX_CAMERAS, MAX_FRAMES = 2**14, 2**4, 2**14

_FRAME_BITS, _CAMERA_BITS = 14, 4
_ROWS, _COLUMNS = 4, 8
_BITS = _ROWS * _COLUMNS
_LEAST_BLOCK, _BLOCKS_PER_SIDE = 8, 16
_DARK, _LIGHT = 24, 232
_LEAST_CONTRAST = 96.0
# Of a block only the middle is read: its edges carry ringing.
_CORE = 0.25


class Mark(NamedTuple):
    """What one picture says of itself; ``camera`` is the camera's place in the data set."""

    episode: int
    camera: int
    frame: int


def draw(picture: NDArray[np.uint8], mark: Mark) -> None:
    """Draw ``mark`` onto ``picture`` (H,W,3), in place.

    Raises:
        ValueError: a number that the mark cannot hold, or a picture that cannot hold the mark.
    """
    height, width = picture.shape[:2]
    if min(width, height) < MIN_SIDE:
        raise ValueError(f"a sample mark needs {MIN_SIDE}x{MIN_SIDE} pixels, the picture has {width}x{height}")
    limits = Mark(MAX_EPISODES, MAX_CAMERAS, MAX_FRAMES)
    if not all(0 <= number < limit for number, limit in zip(mark, limits, strict=True)):
        raise ValueError(f"a sample mark holds numbers below {tuple(limits)}, not {tuple(mark)}")
    number = (mark.episode << _CAMERA_BITS | mark.camera) << _FRAME_BITS | mark.frame
    bits = (number >> np.arange(_BITS - 1, -1, -1)) & 1
    blocks = np.concatenate((bits, 1 - bits)).reshape(2 * _ROWS, _COLUMNS)
    side = _block(width, height)
    levels = np.where(blocks, _LIGHT, _DARK).astype(np.uint8).repeat(side, axis=0).repeat(side, axis=1)
    picture[: levels.shape[0], : levels.shape[1]] = levels[..., None]


def read(pictures: Any) -> list[Mark | None]:
    """The mark that each of ``pictures`` shows; None where none can be made out.

    ``pictures`` are (N,H,W,3), (N,3,H,W) or one of them, ``uint8`` or floats in [0,1]; numpy or torch, of the size
    that they were drawn at.

    Raises:
        ValueError: another shape.
    """
    frames = _as_frames(pictures)
    if not len(frames):
        return []
    side = _block(frames.shape[2], frames.shape[1])
    core = slice(round(side * _CORE), side - round(side * _CORE))
    area = frames[:, : 2 * _ROWS * side, : _COLUMNS * side]
    blocks = area.reshape(len(frames), 2 * _ROWS, side, _COLUMNS, side, 3)[:, :, core, :, core]
    levels = blocks.mean(axis=(2, 4, 5), dtype=np.float64).reshape(len(frames), 2, _BITS)
    contrast = levels[:, 0] - levels[:, 1]
    numbers = (contrast > 0) @ (1 << np.arange(_BITS - 1, -1, -1))
    clear = np.abs(contrast).min(axis=1) >= _LEAST_CONTRAST
    return [_split(int(number)) if seen else None for number, seen in zip(numbers, clear, strict=True)]


def _as_frames(pictures: Any) -> NDArray[Any]:
    frames = np.asarray(pictures)
    if frames.ndim == 3:
        frames = frames[None]
    if frames.ndim == 4 and frames.shape[1] == 3 and frames.shape[-1] != 3:
        frames = np.moveaxis(frames, 1, -1)
    if frames.ndim != 4 or frames.shape[-1] != 3 or min(frames.shape[1:3]) < MIN_SIDE:
        raise ValueError(
            f"pictures of shape {frames.shape} bear no sample marks; give (N,H,W,3) or (N,3,H,W) with sides of "
            f"{MIN_SIDE} pixels or more"
        )
    return frames if frames.dtype == np.uint8 else frames * np.asarray(255, dtype=frames.dtype)


def _split(number: int) -> Mark:
    rest, frame = divmod(number, 2**_FRAME_BITS)
    episode, camera = divmod(rest, 2**_CAMERA_BITS)
    return Mark(episode, camera, frame)


def _block(width: int, height: int) -> int:
    return max(_LEAST_BLOCK, min(width, height) // _BLOCKS_PER_SIDE)
