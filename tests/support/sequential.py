"""What a file shows: one decode from its start on one thread, plain PyAV, the yardstick of the reader's tests."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray


@dataclass
class Shown:
    """Pictures (all of the first one's size) and their times (s), up to the error that ends them."""

    pictures: list[NDArray[np.uint8]] = field(default_factory=list)
    times: list[Fraction | None] = field(default_factory=list)
    error: type[Exception] | None = None


def decode(path: str | Path) -> Shown:
    """All that FFmpeg shows of the first video stream of ``path``."""
    shown = Shown()
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.codec_context.thread_count = 1
        base = stream.time_base
        size: tuple[int, int] | None = None
        try:
            for frame in container.decode(stream):
                size = size or (frame.width, frame.height)
                picture = frame.reformat(width=size[0], height=size[1], format="rgb24").to_ndarray()
                shown.pictures.append(picture.astype(np.uint8, copy=False))
                time = None
                if base is not None and frame.pts is not None:
                    time = Fraction(frame.pts * base.numerator, base.denominator)
                shown.times.append(time)
        except av.FFmpegError as error:
            shown.error = type(error)
    return shown
