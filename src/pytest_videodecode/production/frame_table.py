"""Which frames a stream will show, known from its packets without decoding one.

The table lists the presentation times of all packets that are to be shown. It serves to find the keyframe from
which to decode, and to check every frame that comes: what does not come in the table's order does not count.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain

from av.container import InputContainer
from av.packet import Packet
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

# Where a packet is one frame and carries its presentation time. In AVI it has only a decoding time; of VP8 and
# VP9 a packet may hold a hidden frame alone; raw streams have no times at all.
_CONTAINERS = frozenset({"mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm", "mpegts"})
_CODECS = frozenset({"av1", "h264", "hevc", "mpeg4"})

# An MPEG-4 packet as small as this holds a VOP "not coded" (or the placeholder of a packed one): no frame.
_EMPTY_VOP_BYTES = 12


class Misfit(Exception):
    """The stream does not go as its packets said; only a decode from the start can be believed."""


@dataclass(frozen=True)
class FrameTable:
    """``pts`` of the shown frames in presentation order; ``keyframes`` as (pts, dts) in the order of pts."""

    pts: tuple[int, ...]
    keyframes: tuple[tuple[int, int | None], ...]
    time_base: Fraction

    @cached_property
    def ranks(self) -> dict[int, int]:
        """Frame index by pts."""
        return {pts: rank for rank, pts in enumerate(self.pts)}

    def nearest(self, time: Fraction) -> int:
        """Index of the frame nearest to ``time`` (s); of two equally near the earlier one."""
        ticks = time / self.time_base
        after = bisect_left(self.pts, ticks)
        if after == 0:
            return 0
        if after == len(self.pts):
            return after - 1
        return after if self.pts[after] - ticks < ticks - self.pts[after - 1] else after - 1

    def seek_targets(self, rank: int) -> list[int]:
        """Where to seek for the frame ``rank``, best first, in ticks.

        A demuxer may look its target up among pts (Matroska) or among dts (mp4, where B-frames then make the
        pts of a keyframe land on the next one), so both of the keyframe are tried before going further back.
        """
        at = bisect_right(self.keyframes, self.pts[rank], key=_pts) - 1
        earlier = [time for step in (1, 4) for time in self.keyframes[max(at - step, 0)]]
        targets = [time for time in (*self.keyframes[at], *earlier) if time is not None]
        return list(dict.fromkeys(targets))


def read_frame_table(container: InputContainer, stream: VideoStream) -> FrameTable | None:
    """The table of ``stream``, read to its end; None where packets are no sure guide to the frames.

    Raises:
        av.FFmpegError: the container is damaged.
    """
    codec = stream.codec_context.codec.canonical_name
    if container.format.name not in _CONTAINERS or codec not in _CODECS:
        return None
    shown: list[int] = []
    keyframes: list[tuple[int, int | None]] = []
    for packet in container.demux(stream):
        if _is_flush(packet):
            break
        if packet.pts is None or packet.is_corrupt or not packet.size:
            return None
        if codec == "mpeg4" and packet.size <= _EMPTY_VOP_BYTES:
            return None
        if packet.is_keyframe:
            keyframes.append((packet.pts, packet.dts))
        elif not keyframes:
            return None  # the stream starts inside a GOP, and how many frames the decoder drops is not known
        if not packet.is_discard:
            shown.append(packet.pts)
    # Frames before the first keyframe are the leading ones of an open GOP, which the decoder drops.
    if not shown or min(shown) < keyframes[0][0] or len(set(shown)) < len(shown):
        return None
    base = time_base_of(stream)
    return FrameTable(tuple(sorted(shown)), tuple(sorted(keyframes, key=_pts)), base) if base else None


def time_base_of(stream: VideoStream) -> Fraction | None:
    """Seconds per tick. PyAV 19 has a type of its own for it, which does not calculate with fractions."""
    base = stream.time_base
    return Fraction(base.numerator, base.denominator) if base else None


def frames_from(
    container: InputContainer, stream: VideoStream, table: FrameTable, first: int
) -> Iterator[tuple[int, VideoFrame]]:
    """Index and frame, from the frame ``first`` or an earlier one on, each compared with ``table``.

    Raises:
        Misfit: no seek lands early enough, or the frames that come are not those of the table.
        av.FFmpegError: a failing seek, or damage.
    """
    for target in table.seek_targets(first):
        rank: int | None = None
        for frame in _decode_from(container, stream, target, latest=table.pts[first]):
            found = table.ranks.get(frame.pts) if frame.pts is not None else None
            if rank is None and found is not None and found > first:
                break  # leading frames of an open GOP are dropped, refreshing ones not shown: go further back
            if found is None or (rank is not None and found != rank + 1) or frame.interlaced_frame:
                raise Misfit
            rank = found
            yield rank, frame
        else:
            if rank is not None:
                return
    raise Misfit


def _decode_from(container: InputContainer, stream: VideoStream, target: int, latest: int) -> Iterator[VideoFrame]:
    """Frames from the first keyframe after a seek to ``target``; none if it is later than ``latest``."""
    container.seek(target, stream=stream)
    packets = container.demux(stream)
    for packet in packets:
        # MPEG-TS lands anywhere in a GOP; what comes before the keyframe cannot be decoded
        if packet.is_keyframe:
            if packet.pts is not None and packet.pts <= latest:
                for wanted in chain([packet], packets):
                    yield from wanted.decode()
            return


def _pts(keyframe: tuple[int, int | None]) -> int:
    return keyframe[0]


def _is_flush(packet: Packet[VideoStream]) -> bool:
    return packet.size == 0 and packet.dts is None
