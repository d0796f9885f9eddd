"""What an mp4 of a data set says of itself, to be compared with what the data set says of it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, pairwise

import av

from pytest_videodecode.production.layout.errors import DatasetError, DatasetFileMissingError, UnreadableClipError
from pytest_videodecode.production.layout.info import INFO, DatasetInfo
from pytest_videodecode.production.reading.video_source import BinaryReader

_PACKETS = 600
# 30 against 29.97 is a mismatch: a thousand frames on, it is a frame.
_RATE_TOLERANCE = 5e-4


@dataclass(frozen=True)
class ClipFacts:
    """``rates`` are frames a second as the container's header and as its index have it; sizes are in pixels.

    ``keyframe_interval`` is the most frames from one keyframe to the next, as far as the first packets show.
    """

    name: str
    rates: tuple[float, ...]
    height: int
    width: int
    keyframe_interval: int


def read_clip_facts(video: str | BinaryReader, name: str, *, packets: int = _PACKETS) -> ClipFacts:
    """The facts of ``video``, without decoding it; ``name`` is what messages call it.

    Raises:
        UnreadableClipError: FFmpeg cannot open it.
        DatasetFileMissingError: there is no such file.
    """
    try:
        with av.open(video, "r") as container:
            stream = container.streams.video[0]
            at = [
                number
                for number, packet in enumerate(islice(container.demux(stream), packets))
                if packet.is_keyframe or packet.dts is None  # the last one, without dts, stands behind the end
            ]
            rates = tuple(float(rate) for rate in (stream.average_rate, stream.base_rate) if rate)
            height, width = stream.codec_context.height, stream.codec_context.width
    except FileNotFoundError:
        raise DatasetFileMissingError(f"{name} is not there any more; restore it") from None
    except (av.FFmpegError, OSError, ValueError, IndexError) as error:
        raise UnreadableClipError(f"{name} cannot be opened ({' '.join(str(error).split())})") from error
    gaps = [later - earlier for earlier, later in pairwise(at)]
    return ClipFacts(name, rates, height, width, max(gaps, default=max(packets, 1)))


def require_matching(facts: ClipFacts, info: DatasetInfo, camera: str) -> None:
    """Raise ``DatasetError`` where a clip of ``camera`` has another frame rate or size than ``info`` says."""
    if facts.rates and not any(abs(rate / info.fps - 1) <= _RATE_TOLERANCE for rate in facts.rates):
        raise DatasetError(
            f"{facts.name} has {facts.rates[0]:g} frames a second, {INFO} says {info.fps:g}; correct the one or "
            "the other"
        )
    height, width = info.features[camera].size
    if (facts.height, facts.width) != (height, width):
        raise DatasetError(
            f"{facts.name} is {facts.width}x{facts.height}, {INFO} says {width}x{height} for {camera}; correct the "
            "one or the other"
        )
