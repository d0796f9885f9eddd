"""A frame asked, and how it is recognised among the packets of a passage."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Protocol

from pytest_videodecode.production.reading.container_index import ContainerIndex
from pytest_videodecode.production.reading.passage import Passage
from pytest_videodecode.production.reading.stream_facts import Misfit

# Times are calculated in floats here. What is closer than this (in ticks) to being otherwise is left to exact numbers.
_UNSURE = 1e-2


class Target(Protocol):
    """A frame asked.

    ``counts`` says that it is known by the number of frames before it, which damage to one of them would change.
    """

    @property
    def counts(self) -> bool:
        """See the class."""

    def aim(self, lead: int) -> int:
        """The decoding time (ticks) at or before which its keyframe is decoded, where keyframes lead by ``lead``."""

    def locate(self, passage: Passage) -> int | None:
        """The time (ticks) of that frame, reading on as far as it takes to be sure; None if ``passage`` starts later.

        Raises:
            Misfit: ``passage`` does not tell.
        """


@dataclass(frozen=True)
class AtTime:
    """The frame nearest to ``ticks``, no further away than ``reach``."""

    ticks: float
    reach: float = 0.0
    counts: bool = False

    def aim(self, lead: int) -> int:
        """See ``Target``."""
        return round(self.ticks) - lead

    def locate(self, passage: Passage) -> int | None:
        """See ``Target``."""
        aim = round(self.ticks)
        if aim < passage.first_pts:
            return None
        # a frame less than half a tick away is the nearest there can be
        settles = abs(self.ticks - aim) < 0.5 - _UNSURE
        found = settles and passage.shows(aim)
        latest = self.ticks + max(self.reach, 0.5)
        while (self.counts or not found) and (passage.dts is None or passage.dts <= latest):
            pts = passage.read()
            if pts is None:
                break
            found = found or (settles and pts == aim)
        return aim if found else self._nearest(passage.pts)

    def _nearest(self, pts: list[int]) -> int:
        at = bisect_left(pts, self.ticks)
        near = sorted((abs(time - self.ticks), time) for time in pts[max(at - 1, 0) : at + 1])
        if not near or near[0][0] > self.reach - _UNSURE or (len(near) > 1 and near[1][0] - near[0][0] < _UNSURE):
            raise Misfit
        return near[0][1]


@dataclass(frozen=True)
class AtRank:
    """The frame of index ``rank`` in presentation order, counted by the container's index."""

    rank: int
    index: ContainerIndex
    counts: bool = True

    def aim(self, lead: int) -> int:
        """See ``Target``."""
        return self.index.dts_at(self.rank)

    def locate(self, passage: Passage) -> int | None:
        """See ``Target``."""
        if passage.position is None:
            raise Misfit
        at = self.rank - passage.position
        if at < 0:
            return None
        # what is decoded after a frame is shown is shown after it
        while at >= len(passage.pts) or self.index.follows(passage.position + passage.count, passage.pts[at]):
            if passage.read() is None:
                raise Misfit
        pts = passage.pts[at]
        if pts < passage.first_pts:
            return None
        if passage.hidden or not self.index.agrees(self.rank, pts):
            raise Misfit
        return pts
