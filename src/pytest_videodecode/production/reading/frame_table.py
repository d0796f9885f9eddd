"""Which frames a stream will show, known from its packets without decoding one.

The table lists the presentation times of all packets that are to be shown. Reading it costs a pass over the file; it
answers what a container's index and a seek leave open.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction

from av.container import InputContainer
from av.video.stream import VideoStream

from pytest_videodecode.production.reading.stream_facts import Misfit, StreamFacts


@dataclass(frozen=True)
class FrameTable:
    """``pts`` of the shown frames in presentation order, in ticks of ``time_base`` (s)."""

    pts: tuple[int, ...]
    time_base: Fraction

    def nearest(self, time: Fraction) -> int:
        """Index of the frame nearest to ``time`` (s); of two equally near the earlier one."""
        ticks = time / self.time_base
        after = bisect_left(self.pts, ticks)
        if after == 0:
            return 0
        if after == len(self.pts):
            return after - 1
        return after if self.pts[after] - ticks < ticks - self.pts[after - 1] else after - 1


def read_frame_table(container: InputContainer, stream: VideoStream) -> FrameTable | None:
    """The table of ``stream``, read from its start to its end; None where packets are no sure guide to the frames.

    Raises:
        av.FFmpegError: the container is damaged.
    """
    facts = StreamFacts.of(container, stream)
    if facts is None:
        return None
    shown: list[int] = []
    first: int | None = None
    for packet in container.demux(stream):
        if not packet.size and packet.dts is None:
            break
        try:
            pts = facts.pts_of(packet)
        except Misfit:
            return None
        if first is None:
            if not packet.is_keyframe:
                return None  # the stream starts inside a GOP, and how many frames the decoder drops is not known
            first = pts
        if not packet.is_discard:
            shown.append(pts)
    # Frames before the first keyframe are the leading ones of an open GOP, which the decoder drops.
    if first is None or not shown or len(set(shown)) < len(shown) or min(shown) < first:
        return None
    return FrameTable(tuple(sorted(shown)), facts.time_base)
