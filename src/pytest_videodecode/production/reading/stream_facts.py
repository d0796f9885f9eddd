"""What is known of a video stream before its first packet is read: whether and how frames in it can be sought."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from av.container import InputContainer
from av.packet import Packet
from av.video.stream import VideoStream

from pytest_videodecode.production.reading.container_index import ContainerIndex

if TYPE_CHECKING:
    VideoPacket = Packet[VideoStream]  # at run time PyAV's class takes no parameter

_MOV = "mov,mp4,m4a,3gp,3g2,mj2"

# Where a packet is one frame and carries its presentation time. In AVI it has only a decoding time; of VP8 and
# VP9 a packet may hold a hidden frame alone; raw streams have no times at all.
_CONTAINERS = frozenset({_MOV, "matroska,webm", "mpegts"})
_CODECS = frozenset({"av1", "h264", "hevc", "mpeg4"})

# An MPEG-4 packet as small as this holds a VOP "not coded" (or the placeholder of a packed one): no frame.
_EMPTY_VOP_BYTES = 12


class Misfit(Exception):
    """The stream does not go as its packets or its index said; another way to the frames must be taken."""


@dataclass(frozen=True)
class StreamFacts:
    """``second`` and ``frame`` are in ticks; ``frame`` is the mean distance of frames, as the container says it.

    ``index`` is the container's own, None where it is none to count frames by. ``seeks_by_dts`` says that a seek to a
    time goes by decoding times, ``self_contained`` that a keyframe forgets all that was decoded before it.
    """

    codec: str
    time_base: Fraction
    second: float
    frame: float
    width: int
    height: int
    index: ContainerIndex | None
    seeks_by_dts: bool
    self_contained: bool

    @classmethod
    def of(cls, container: InputContainer, stream: VideoStream) -> StreamFacts | None:
        """None where packets are no sure guide to the frames."""
        context = stream.codec_context
        codec = context.codec.canonical_name
        base = time_base_of(stream)
        if container.format.name not in _CONTAINERS or codec not in _CODECS or not base:
            return None
        second = float(1 / base)
        rate = stream.guessed_rate or stream.average_rate
        frame = second * rate.denominator / rate.numerator if rate else second
        is_mov = container.format.name == _MOV
        return cls(
            codec=codec,
            time_base=base,
            second=second,
            frame=frame,
            width=context.width,
            height=context.height,
            index=ContainerIndex.of(stream, frame) if is_mov else None,
            seeks_by_dts=container.format.name != "matroska,webm",
            self_contained=codec == "av1",
        )

    def pts_of(self, packet: VideoPacket) -> int:
        """When the frame of ``packet`` is shown, in ticks.

        Raises:
            Misfit: it holds no frame, a damaged one, or one without a time.
        """
        pts, size = packet.pts, packet.size
        if pts is None or not size or packet.is_corrupt or (size <= _EMPTY_VOP_BYTES and self.codec == "mpeg4"):
            raise Misfit
        return pts


def time_base_of(stream: VideoStream) -> Fraction | None:
    """Seconds per tick. PyAV 19 has a type of its own for it, which does not calculate with fractions."""
    base = stream.time_base
    return Fraction(base.numerator, base.denominator) if base else None
