"""Packets of a stream from one keyframe on, read and decoded no further than is asked.

Two things move through a passage: reading (a packet costs microseconds) and decoding (a frame costs a hundred times
that). Reading tells which frames there are and where; decoding follows only as far as the frame asked, and skips to a
keyframe that was read meanwhile. Every frame that comes out is compared with the packets that went in: all of them
must come, in the order of their times. Whatever does not go like this is a ``Misfit``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from av.video.codeccontext import VideoCodecContext
from av.video.frame import VideoFrame

from pytest_videodecode.production.reading.stream_facts import Misfit, StreamFacts

if TYPE_CHECKING:
    from pytest_videodecode.production.reading.stream_facts import VideoPacket

#: Takes a frame and the numbers of the targets that it answers.
Put = Callable[[VideoFrame, Sequence[int]], None]


class Passage:
    """What follows the keyframe ``first``, which ``packets`` have just given to be decoded in ``context``.

    ``pts`` holds the times of all shown packets read, in order. ``position`` is the index of ``first`` in the
    stream's decode order, None where it is not known; ``count`` says how many packets were read, ``gop`` how many lay
    between two keyframes at most. With ``skips`` False every packet is decoded.
    """

    def __init__(
        self,
        facts: StreamFacts,
        context: VideoCodecContext,
        packets: Iterator[VideoPacket],
        first: VideoPacket,
        *,
        position: int | None,
        put: Put,
        skips: bool,
    ) -> None:
        self._facts = facts
        self._context = context
        self._packets = packets
        self._skips = skips
        self._pending: list[tuple[int, VideoPacket]] = []
        self._fed = False
        self._due: list[int] = []  # fed and not yet out, in order
        self._bare = True  # no frame has come since the decoder was started anew
        self._wanted: dict[int, list[int]] = {}
        self._ended = False
        self.put = put
        self.pts: list[int] = []
        self.position = position
        self.count = 0
        self.gop = 0
        self._keyframe = 0
        self.hidden = False
        self.dts: int | None = None
        self.last_out: int | None = None
        self.drained = False
        self.first_pts = self._add(first)
        self.first_dts = self.first_pts if first.dts is None else first.dts

    def shows(self, pts: int) -> bool:
        """Whether a frame at ``pts`` was read."""
        at = bisect_left(self.pts, pts)
        return at < len(self.pts) and self.pts[at] == pts

    def read(self) -> int | None:
        """Reads one packet more: its time, None at the end of the stream."""
        if not self._ended:
            packet = next(self._packets, None)
            if packet is not None and (packet.size or packet.dts is not None):
                return self._add(packet)
            self._ended = True
        return None

    def _add(self, packet: VideoPacket) -> int:
        pts = self._facts.pts_of(packet)
        self._pending.append((pts, packet))
        if packet.is_keyframe:
            self.gop = max(self.gop, self.count - self._keyframe)
            self._keyframe = self.count
        self.count += 1
        self.dts = packet.dts
        if packet.is_discard:
            self.hidden = True
        elif not self.pts or pts > self.pts[-1]:
            self.pts.append(pts)
        else:
            at = bisect_left(self.pts, pts)
            if self.pts[at] == pts or (self.last_out is not None and pts <= self.last_out):
                raise Misfit
            self.pts.insert(at, pts)
        return pts

    def decode_to(self, pts: int, number: int, whole: bool) -> bool:
        """Decodes until the packet of the frame at ``pts``, which has been read, has gone in.

        The frame itself may come later, at ``finish`` at the latest, and is put as the answer to target ``number``.
        With ``whole`` all frames shown before it go in as well, even if they are decoded after it. False where the
        frame has come, or been skipped, already.
        """
        own, start, last = -1, 0, -1
        for at, (time, packet) in enumerate(self._pending):
            if time > pts:
                continue
            if time == pts:
                own = last = at
            elif whole:
                last = at
            if own in (-1, at) and packet.is_keyframe:
                start = at
        if own < 0 and pts not in self._due:
            return False
        if start and own >= 0 and self._skips:
            self._skip_to(start)
            last -= start
        self._wanted.setdefault(pts, []).append(number)
        fed = self._pending[: last + 1]
        del self._pending[: last + 1]
        for time, packet in fed:
            self._feed(time, packet)
        return True

    def _skip_to(self, start: int) -> None:
        del self._pending[:start]
        if self._fed and not self._facts.self_contained:
            if self._wanted:
                self._drain()
            self._context.flush_buffers()
            self._due.clear()
            self._bare, self.drained = True, False

    def _feed(self, pts: int, packet: VideoPacket) -> None:
        self._fed = True
        if not packet.is_discard:
            if not self._due or pts > self._due[-1]:
                self._due.append(pts)
            else:
                self._due.insert(bisect_left(self._due, pts), pts)
        for frame in self._context.decode(packet):
            self._out(frame)

    def _out(self, frame: VideoFrame) -> None:
        pts = frame.pts
        if not self._due or pts is None or frame.interlaced_frame:
            raise Misfit
        if pts != self._due[0]:
            # leading frames of an open GOP, or frames of a refresh that has begun, are dropped; later on none is
            at = bisect_left(self._due, pts)
            if not self._bare or at == len(self._due) or self._due[at] != pts:
                raise Misfit
            del self._due[:at]
        if (frame.width, frame.height) != (self._facts.width, self._facts.height):
            raise Misfit
        del self._due[0]
        self._bare = False
        self.last_out = pts
        if pts in self._wanted:
            self.put(frame, self._wanted.pop(pts))

    def finish(self) -> dict[int, list[int]]:
        """Has every frame come that is wanted still; those that the decoder has dropped, with their targets."""
        if self._wanted:
            self._drain()
        missed, self._wanted = self._wanted, {}
        return missed

    def _drain(self) -> None:
        self.drained = True
        for frame in self._context.decode(None):
            self._out(frame)
