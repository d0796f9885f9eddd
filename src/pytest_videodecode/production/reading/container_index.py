"""The index that an mp4 carries: one entry per packet, in decode order, there before any packet is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from av.packet import Packet
from av.video.stream import VideoStream

if TYPE_CHECKING:
    from av.index import IndexEntries  # not in PyAV 15


class ContainerIndex:
    """Positions are those of packets in decode order, times in ticks.

    The frame at index i of the stream is one of the packets between the keyframe at or before position i and the
    next one, unless an edit list hides frames, frames before a keyframe are shown after it, or the index is that of
    a part of the file only. ``agrees`` notices the first two, ``is_complete`` the last.
    """

    def __init__(self, entries: IndexEntries, start: int, frame: float) -> None:
        self._entries = entries
        self._start = start
        self._frame = frame
        self.length = len(entries)

    @classmethod
    def of(cls, stream: VideoStream, frame: float) -> ContainerIndex | None:
        """The index of an mp4's ``stream``, whose frames are ``frame`` ticks apart.

        None before PyAV 17, which does not show it; where it holds another number of packets than the header says
        (a fragmented file, an edit list); and where its first packet is hidden or no keyframe.
        """
        entries = getattr(stream, "index_entries", None)
        if entries is None or not 0 < len(entries) == stream.frames or stream.start_time is None:
            return None
        first = entries[0]
        return cls(entries, stream.start_time, frame) if first.is_keyframe and not first.is_discard else None

    @property
    def is_complete(self) -> bool:
        """Whether reading has brought no entry to light that was not there at first, as a fragmented file does."""
        return len(self._entries) == self.length

    def dts_at(self, position: int) -> int:
        """Decoding time of the packet there."""
        return self._entries[position].timestamp

    def follows(self, position: int, pts: int) -> bool:
        """Whether the packet at ``position`` is decoded before ``pts``, and may be shown before it."""
        return position < self.length and self._entries[position].timestamp < pts

    def keyframe_before(self, dts: int) -> int:
        """Position of the last keyframe that is decoded at ``dts`` or earlier; -1 where there is none."""
        return self._entries.search_timestamp(dts)

    def position_of(self, keyframe: Packet[VideoStream]) -> int | None:
        """The position of a packet that is a keyframe; None where the index does not have it."""
        if keyframe.dts is None:
            return None
        position = self._entries.search_timestamp(keyframe.dts)
        if position < 0:
            return None
        entry = self._entries[position]
        return position if (entry.timestamp, entry.pos) == (keyframe.dts, keyframe.pos) else None

    def agrees(self, rank: int, pts: int) -> bool:
        """Whether the frame of index ``rank`` is shown when a stream of constant rate shows it.

        Counting packets alone cannot tell a hidden frame from a shown one; of a stream of variable rate nothing can
        be said.
        """
        return abs((pts - self._start) / self._frame - rank) < 0.5
