"""What a check asks for: frames by their numbers, in one request of bounded size."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from pytest_videodecode.checks.base import Subject
from pytest_videodecode.model import Clip, DecodeRequest

#: Pixels of one request, in bytes; several copies of them live at once, here and in the worker.
MAX_PIXELS = 256 << 20

#: Pixels of one request in checks that hold two replies side by side, or that count threads rather than frames.
SMALL_PIXELS = 64 << 20

INDEX, TIMESTAMP = "index", "timestamp"

#: Containers (as FFmpeg names their demuxers) that hold no presentation times: a raw bitstream holds none at all, and
#: AVI those of the packets in decoding order. Every reader makes up its own, so there is no right one to ask for.
TIMELESS = frozenset({"avi", "h264", "hevc", "av1", "obu", "m4v", "mpegvideo", "mjpeg"})

NO_TIMES = "the clip has no presentation times that increase from frame to frame"

NO_WAY = f"the decoder takes timestamps only, and {NO_TIMES}; give the function a parameter of frame indices"


@dataclass(frozen=True, slots=True)
class Ask:
    """Frames asked in one request, in this order; ``name`` is the access pattern, ``by`` how they are named."""

    name: str
    frames: tuple[int, ...]
    by: str = INDEX

    def request(self, clip: Clip, **settings: Any) -> DecodeRequest:
        """The decode request, with the rest of its fields as given. Timestamps are the frames' true times."""
        if self.by == INDEX:
            return DecodeRequest(path=clip.path, indices=self.frames, **settings)
        # a clip that shows no frame has no times either, and is asked for its start
        times = tuple(float(clip.times[n]) if n < clip.frames else 0.0 for n in self.frames)
        return DecodeRequest(path=clip.path, timestamps=times, **settings)

    def place(self, position: int) -> str:
        """Where in the request the picture at ``position`` stands, in words."""
        return f"picture {position + 1} of {len(self.frames)}, pattern '{self.name}', by {self.by}"


def ways(subject: Subject) -> tuple[str, ...]:
    """How this decoder can be asked for frames of this clip: by index first; empty where it cannot."""
    asks, clip = subject.decoder.asks, subject.clip
    timed = clip.container not in TIMELESS and all(earlier < later for earlier, later in pairwise(clip.times))
    return (INDEX,) * ("indices" in asks) + (TIMESTAMP,) * ("timestamps" in asks and timed)


def fits(clip: Clip, budget: int = MAX_PIXELS) -> int:
    """How many frames of ``clip`` may be asked at once; at least one, however large."""
    return max(1, budget // max(1, clip.width * clip.height * 3))
