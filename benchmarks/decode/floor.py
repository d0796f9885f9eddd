"""The least that a request can cost: the decoder on the fewest frames, and one conversion for each frame asked.

Containers are read beforehand, so that neither demuxing nor a search for keyframes is counted. The packets of all
GOPs of a request are fed in one go and drained once: with closed GOPs a decoder may step from one to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import av
import numpy as np
from av.codec.context import CodecContext
from av.video.codeccontext import VideoCodecContext
from av.video.reformatter import VideoReformatter

from benchmarks.decode.cells import Request
from benchmarks.decode.peer import Frames

# Before PyAV 17 there is no such argument, and no pool to forbid.
_ONE_THREAD: dict[str, Any] = {"threads": 1} if int(av.__version__.split(".")[0]) >= 17 else {}


class _Index:
    """All packets of a clip in memory, their frames numbered by presentation time."""

    def __init__(self, path: str, threads: int) -> None:
        with av.open(path) as container:
            stream = container.streams.video[0]
            self.packets = [packet for packet in container.demux(stream) if packet.size]
            self.pts = sorted(packet.pts for packet in self.packets if packet.pts is not None)
            context = CodecContext.create(stream.codec_context.name, "r")
            assert isinstance(context, VideoCodecContext)
            context.extradata = stream.codec_context.extradata
            context.thread_count = threads
            self.context = context
        self.keyframes = [i for i, packet in enumerate(self.packets) if packet.is_keyframe]
        self.reformatter = VideoReformatter()

    def needed(self, indices: Sequence[int]) -> list[Any]:
        """The packets of each GOP concerned, from its keyframe to the last one that a frame asked is made of."""
        wanted = {self.pts[index] for index in indices}
        needed: list[Any] = []
        for start, end in zip(self.keyframes, [*self.keyframes[1:], len(self.packets)], strict=True):
            asked = [i for i in range(start, end) if self.packets[i].pts in wanted]
            if asked:
                needed += self.packets[start : max(asked) + 1]
        return needed


class Floor:
    """The floor as a peer; ``prepare`` gathers the packets of the request to come."""

    note = "packets read beforehand; H.264 and HEVC with slice threads"

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._clips: dict[str, _Index] = {}
        self._packets: dict[str, list[Any]] = {}

    def prepare(self, request: Request) -> None:
        """Reads the clips that are new, and picks the packets."""
        for path, indices in request:
            if path not in self._clips:
                self._clips[path] = _Index(path, self._threads)
            self._packets[path] = self._clips[path].needed(indices)

    def decode(self, path: str, indices: Sequence[int]) -> Frames:
        """The frames of the request that was prepared."""
        clip = self._clips[path]
        places: dict[int | None, int] = {clip.pts[index]: place for place, index in enumerate(indices)}
        context, convert = clip.context, clip.reformatter.reformat
        answer: Frames | None = None
        for packet in (*self._packets[path], None):
            for frame in context.decode(packet):
                place = places.get(frame.pts)
                if place is not None:
                    if answer is None:
                        answer = np.empty((len(indices), frame.height, frame.width, 3), np.uint8)
                    plane = convert(frame, format="rgb24", **_ONE_THREAD).planes[0]
                    lines = np.frombuffer(memoryview(plane), np.uint8).reshape(frame.height, plane.line_size)
                    answer[place] = lines[:, : frame.width * 3].reshape(frame.height, frame.width, 3)
        context.flush_buffers()
        assert answer is not None
        return answer

    def close(self) -> None:
        """Drop packets and decoders."""
        self._clips.clear()
        self._packets.clear()
