"""From frames asked to packets decoded: where to seek, what to decode, and when to go back further."""

from __future__ import annotations

from collections.abc import Sequence

from av.container import InputContainer
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from pytest_videodecode.production.reading.passage import Passage, Put
from pytest_videodecode.production.reading.stream_facts import Misfit, StreamFacts
from pytest_videodecode.production.reading.targets import AtTime, Target

# To read so many packets costs what a seek costs. A decoder of several threads that no seek interrupts keeps them
# busy, which is worth some more.
_SEEK_PACKETS = 4
_SEEK_PACKETS_THREADED = 16

# Without an index it is not known whether a keyframe lies before a frame this many packets ahead; it is tried.
_FAR_PACKETS = 300

# How often a seek that lands too late is tried again, further back.
_TRIES = 6

# Where a decoder drops the frame asked (of an open GOP, of a refresh): so many keyframes further back.
_FURTHER_BACK = (1, 4)


class ClipReader:
    """Gives frames of one open clip, by seeking; goes on where it stopped, if that helps."""

    def __init__(self, container: InputContainer, stream: VideoStream, facts: StreamFacts) -> None:
        self.facts = facts
        self._container = container
        self._stream = stream
        self._passage: Passage | None = None
        self._lead = 0  # most ticks that a keyframe was seen to be decoded before it is shown
        self._gop = 0
        threaded = facts.self_contained and stream.codec_context.thread_count != 1
        self._seek_packets = _SEEK_PACKETS_THREADED if threaded else _SEEK_PACKETS

    def read(self, targets: Sequence[Target], put: Put) -> None:
        """Puts the frame of each of ``targets``, which ascend, under its number among them.

        Raises:
            Misfit: that is not sure to be right; some may have been put.
            av.FFmpegError: a failing seek, or damage.
            Exception: whatever ``put`` raises.
        """
        passage, self._passage = self._passage, None
        if passage is not None:
            passage.put = put
        for number, target in enumerate(targets):
            if passage is None or not self._goes_on(passage, target) or not _decode(passage, target, number):
                if passage is not None:
                    self._leave(passage, put)
                passage, pts = self._start(target, put)
                if not passage.decode_to(pts, number, whole=target.counts):
                    raise Misfit
        if passage is not None:
            self._leave(passage, put)
            if not passage.drained:
                passage.put = _nobody
                self._passage = passage
        if (index := self.facts.index) is not None and not index.is_complete:
            raise Misfit

    def _goes_on(self, passage: Passage, target: Target) -> bool:
        """Whether ``passage`` leads to ``target`` at less cost than a seek."""
        if passage.drained:
            return False
        if (index := self.facts.index) is not None and passage.position is not None:
            ahead = index.keyframe_before(target.aim(self._lead)) - passage.position
            return 0 <= ahead <= passage.count + self._seek_packets
        ahead_by = (target.aim(0) - (passage.pts[-1] if passage.pts else passage.first_pts)) / self.facts.frame
        self._gop = max(self._gop, passage.gop)
        return ahead_by <= (max(self._gop, self._seek_packets) if self._gop else _FAR_PACKETS)

    def _start(self, target: Target, put: Put, back: int = 0) -> tuple[Passage, int]:
        """A passage from the keyframe before ``target``, or ``back`` keyframes further back, and the target's time."""
        at = target.aim(self._lead if self.facts.seeks_by_dts else 0)
        reached = None
        for attempt in range(_TRIES + back):
            passage = self._land(at, put, skips=not back)
            step = at - int(self.facts.second * 2**attempt)
            if passage is not None:
                if (pts := target.locate(passage)) is not None:
                    if not back or passage.first_pts == reached:  # the first keyframe of all
                        return passage, pts
                    back -= 1
                    reached = passage.first_pts
                start = min(passage.first_pts, passage.first_dts) - 1
                step = start if start < at else step
            at = step
        raise Misfit

    def _land(self, at: int, put: Put, skips: bool) -> Passage | None:
        """A passage from the first keyframe after a seek; None where none comes."""
        self._container.seek(at, stream=self._stream)
        packets = self._container.demux(self._stream)
        # MPEG-TS lands anywhere in a GOP; what comes before the keyframe cannot be decoded
        first = next((packet for packet in packets if packet.is_keyframe), None)
        if first is None:
            return None
        position = self.facts.index.position_of(first) if self.facts.index is not None else None
        passage = Passage(
            self.facts, self._stream.codec_context, packets, first, position=position, put=put, skips=skips
        )
        self._lead = max(self._lead, passage.first_pts - passage.first_dts)
        return passage

    def _leave(self, passage: Passage, put: Put) -> None:
        """Has all come that is wanted of ``passage``, from further back what its decoder dropped."""
        missed = passage.finish()
        for back in _FURTHER_BACK:
            if not missed:
                return
            pts = sorted(missed)
            passage, _ = self._start(AtTime(pts[0]), put, back)
            for time in pts:
                for number in missed[time]:
                    _decode(passage, AtTime(time), number)
            missed = passage.finish()
        if missed:
            raise Misfit


def _decode(passage: Passage, target: Target, number: int) -> bool:
    pts = target.locate(passage)
    return pts is not None and passage.decode_to(pts, number, whole=target.counts)


def _nobody(frame: VideoFrame, numbers: Sequence[int]) -> None:
    """Holds the place of a ``put`` between requests, so that a clip that stays open keeps no answer alive."""
