"""The moving pictures of synthetic clips: a coloured texture that scrolls, with the frame's number on it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pytest_videodecode.clips import marks
from pytest_videodecode.model import ClipSpec

# Odd and unequal, so that neither the blocks of a codec nor a neighbouring frame hide a wrong frame.
_STEP_DOWN, _STEP_RIGHT = 3, 5
_MEAN, _DEVIATION = 128.0, 48.0


def pictures(spec: ClipSpec) -> Iterator[NDArray[np.uint8]]:
    """The frames of ``spec`` in presentation order, each ``uint8 (H,W,3)`` RGB; frame i bears the mark i."""
    texture = _texture(spec.width, spec.height, spec.texture)
    for number in range(spec.frames):
        picture = np.roll(texture, (number * _STEP_DOWN, number * _STEP_RIGHT), axis=(0, 1))
        marks.draw(picture, number)
        yield picture


def _texture(width: int, height: int, seed: int) -> NDArray[np.uint8]:
    """Noise whose spectrum falls with frequency, as that of camera pictures does; it wraps without a seam."""
    rng = np.random.default_rng(seed)
    frequency = np.hypot(np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width)[None, :])
    frequency[0, 0] = 1.0
    channels = []
    for _ in range(3):
        spectrum = np.fft.rfft2(rng.standard_normal((height, width))) / frequency
        spectrum[0, 0] = 0.0
        plane = np.fft.irfft2(spectrum, s=(height, width))
        channels.append(_MEAN + plane * (_DEVIATION / plane.std()))
    texture: NDArray[np.uint8] = np.clip(np.stack(channels, axis=-1), 0, 255).astype(np.uint8)
    return texture
