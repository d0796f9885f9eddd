"""The truth about one video file, as the cache stores it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from pytest_videodecode.model import Clip, ClipSpec, FrameReader


@dataclass(frozen=True, kw_only=True, slots=True)
class Truth:
    """What a file shows, frame by frame in presentation order.

    ``digests`` and ``signatures`` (base 85) are those of ``clips.reference``, one of each for a frame, and empty for
    a synthetic clip, whose frames bear marks. ``intact`` False comes with a ``fault``, FFmpeg's own words.
    """

    codec: str
    container: str
    width: int
    height: int
    times: tuple[Fraction, ...]
    keyframes: tuple[int, ...]
    intact: bool = True
    fault: str = ""
    digests: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()

    def clip(self, name: str, path: Path, read: FrameReader, spec: ClipSpec | None = None) -> Clip:
        """The file ``path`` of which this is the truth; ``read`` knows its frames by their pixels."""
        return Clip(
            name=name,
            path=str(path),
            codec=self.codec,
            container=self.container,
            width=self.width,
            height=self.height,
            times=self.times,
            keyframes=self.keyframes,
            intact=self.intact,
            spec=spec,
            read=read,
        )


def in_order(times: Sequence[Fraction | None], rate: Fraction | None) -> tuple[Fraction, ...]:
    """The presentation times of frames that came out of a decoder in this order.

    A decoder puts out frames in display order, but a container without presentation times (AVI) lends each frame
    the time of another, so the times of H.264 with B-frames run 1 3 4 2 6 …; sorted, they are the moments at which
    a player shows the frames one after another. Where any frame lacks a time, as in a raw bitstream, they
    count at ``rate`` from the first time known.
    """
    known = [time for time in times if time is not None]
    if len(known) == len(times):
        return tuple(sorted(known))
    step = 1 / (rate or Fraction(25))  # 25 is what FFmpeg's demuxers of raw bitstreams assume
    return tuple((known[0] if known else Fraction(0)) + number * step for number in range(len(times)))
