"""The seed's and LeRobot's ways of reading frames, written from their descriptions to stand for them in the table."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import av
import numpy as np
from numpy.typing import NDArray


def decode_as_seed(path: str, indices: Sequence[int], cap: int) -> NDArray[np.uint8]:
    """One open per call, one seek to the first frame asked, decode to the last, each frame asked converted by itself.

    libdav1d's pool has ``cap`` threads: 2 is what the seed settled on. The conversion builds a scaler per frame,
    as ``frame.to_image()`` does.
    """
    wanted = set(indices)
    found: dict[int, NDArray[np.uint8]] = {}
    with av.open(path) as container:
        stream = container.streams.video[0]
        if stream.codec_context.name == "libdav1d":
            stream.codec_context.thread_count = cap
        assert stream.average_rate is not None
        assert stream.time_base is not None
        per_frame = 1 / (Fraction(stream.average_rate) * Fraction(stream.time_base))  # in ticks
        if min(indices):
            container.seek(round(min(indices) * per_frame), stream=stream)
        for frame in container.decode(stream):
            assert frame.pts is not None
            number = round(frame.pts / per_frame)
            if number in wanted:
                found[number] = np.asarray(frame.to_ndarray(format="rgb24"), np.uint8)
            if number >= max(wanted):
                break
    return np.stack([found[index] for index in indices])


def decode_as_lerobot(path: str, indices: Sequence[int]) -> NDArray[np.uint8]:
    """LeRobot's pyav backend, as torchvision reads: from the keyframe before the first time asked to the last one.

    Every frame on the way is converted and kept, then the nearest to each time asked is picked.
    """
    kept: list[NDArray[np.uint8]] = []
    times: list[float] = []
    with av.open(path) as container:
        stream = container.streams.video[0]
        assert stream.average_rate is not None
        asked = [float(index / stream.average_rate) for index in indices]
        container.seek(int(min(asked) * av.time_base), any_frame=False, backward=True)
        for frame in container.decode(video=0):
            assert frame.time is not None
            kept.append(np.asarray(frame.to_rgb().to_ndarray(), np.uint8))
            times.append(frame.time)
            if frame.time >= max(asked):
                break
    nearest = np.abs(np.subtract.outer(asked, times)).argmin(axis=1)
    return np.stack([kept[place] for place in nearest])
