"""The pictures of one video file of a synthetic data set: a texture that scrolls, with the sample mark on it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pytest_videodecode.datasets.marks import Mark, draw
from pytest_videodecode.datasets.spec import VideoFile

# Odd and unequal, so that neither the blocks of a codec nor a neighbouring frame hide a wrong frame.
_STEP_DOWN, _STEP_RIGHT = 3, 5
# With this deviation a 256x256 picture takes about 13 KB in AV1 at crf 30, as those of recorded data sets do.
_MEAN, _DEVIATION = 128.0, 48.0
_TINTS = np.array([1.0, 0.8, 0.6])


def pictures(video: VideoFile) -> Iterator[NDArray[np.uint8]]:
    """The frames of ``video`` in order, each ``uint8 (H,W,3)`` RGB. Every episode has a texture of its own."""
    for episode, length in zip(video.episodes, video.lengths, strict=True):
        scene = _scene(video, episode)
        for number in range(length):
            picture = np.roll(scene, (number * _STEP_DOWN, number * _STEP_RIGHT), axis=(0, 1))
            draw(picture, Mark(episode, video.camera, number))
            yield picture


def _scene(video: VideoFile, episode: int) -> NDArray[np.uint8]:
    """Noise whose spectrum falls with frequency, as that of camera pictures does, or a plain grey."""
    if not video.textured:
        return np.full((video.height, video.width, 3), int(_MEAN), dtype=np.uint8)
    rng = np.random.default_rng((video.seed, video.camera, episode))
    frequency = np.hypot(np.fft.fftfreq(video.height)[:, None], np.fft.rfftfreq(video.width)[None, :])
    frequency[0, 0] = np.inf  # no mean
    spectrum = np.fft.rfft2(rng.standard_normal((video.height, video.width))) / frequency
    plane = np.fft.irfft2(spectrum, s=(video.height, video.width))
    levels = _MEAN + plane[..., None] * (_DEVIATION / plane.std()) * _TINTS
    scene: NDArray[np.uint8] = np.clip(levels, 0, 255).astype(np.uint8)
    return scene
