"""The order of samples and of decoding, worked out with numbers alone: no file is read and no picture held here.

Blocks come in a shuffled order. One after another is decoded, a few frames at a time; a sample whose frames are all
there goes into the buffer, out of which the next one is drawn at random. Nothing depends on time or on what decoding
brings, so that the same seed gives the same order, and an epoch can be taken up again by drawing without decoding.

The buffer begins small, so that the first sample does not wait for a thousand, and grows as samples are drawn, to
its full size or to what the memory for pictures allows. Randomness has two parts, then: blocks are permuted over all
episodes of the share, without limit; samples of one block are spread over as many others as the buffer holds. An
epoch's first batches come from few blocks: four stretches, or the one or two combs, that make the first filling.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_videodecode.production.loading.blocks import Block
from pytest_videodecode.production.loading.windows import window

_FIRST_FILL = 128
#: So many samples are drawn for one that the buffer grows by: the frames decoded for later cost so much.
_GROWTH = 16


@dataclass(frozen=True)
class View:
    """Cameras whose windows are the same: their offsets in frames, and the bytes of one frame of all of them."""

    cameras: tuple[str, ...]
    offsets: tuple[int, ...]
    frame_bytes: int


@dataclass(frozen=True, slots=True)
class Step:
    """A few neighbouring frames of a block, decoded together: by view, which of its frames (from, to)."""

    block: OpenBlock
    number: int
    frames: tuple[tuple[int, int], ...]


class OpenBlock:
    """A block in work. By view, ``frames`` are those it needs, ``uses`` how many windows still show each.

    ``pictures`` is the caller's: what it keeps of each view's frames.
    """

    def __init__(self, block: Block, length: int, views: Sequence[View], step_frames: int) -> None:
        self.episode = block.episode
        self.length = length
        self.samples = block.frames()
        self.frames: list[NDArray[np.int64]] = []
        self.places: list[NDArray[np.int64]] = []
        self.uses: list[list[int]] = []
        lasts = []
        for view in views:
            shown, _ = window(self.samples, view.offsets, length)
            frames, places = np.unique(shown, return_inverse=True)
            self.frames.append(frames)
            self.places.append(places.reshape(shown.shape))
            self.uses.append(np.bincount(places.ravel()).tolist())
            lasts.append(shown.max(axis=1))
        timeline = np.unique(np.concatenate(self.frames)) if self.frames else self.samples
        cuts = np.append(timeline[::step_frames], timeline[-1] + 1)
        bounds = [np.searchsorted(frames, cuts).tolist() for frames in self.frames]
        self.steps = [
            Step(self, number, tuple((bound[number], bound[number + 1]) for bound in bounds))
            for number in range(len(cuts) - 1)
        ]
        last = np.max(lasts, axis=0) if lasts else self.samples
        order = np.argsort(last, kind="stable")
        ready_at = np.searchsorted(cuts, last[order], "right") - 1
        self.ready = np.split(order, np.searchsorted(ready_at, np.arange(1, len(self.steps))))
        self.pictures: list[list[Any]] = [[None] * len(frames) for frames in self.frames]

    def step_of(self, view: int, place: int) -> Step:
        """The step that decodes a frame."""
        return next(step for step in self.steps if step.frames[view][0] <= place < step.frames[view][1])


@dataclass(frozen=True, slots=True)
class Draw:
    """The next sample: frame ``frame`` of the block's episode, after ``steps`` have been decoded.

    By view, ``places`` are its frames among those of the block, and ``last`` those that nobody needs after it.
    """

    block: OpenBlock
    frame: int
    steps: tuple[Step, ...]
    places: tuple[list[int], ...]
    last: tuple[list[int], ...]


@dataclass(frozen=True)
class BufferLimits:
    """``samples`` and ``picture_bytes`` that may wait in the buffer; with ``in_order`` none waits."""

    samples: int
    picture_bytes: int
    step_frames: int = 16
    in_order: bool = False


class SampleOrder:
    """Iterates over the ``Draw`` of each sample in ``blocks``, once, in the order that ``seed`` gives."""

    def __init__(
        self,
        blocks: Sequence[Block],
        lengths: Sequence[int],
        views: Sequence[View],
        limits: BufferLimits,
        seed: str,
    ) -> None:
        self._random = Random(seed)
        self._blocks = list(blocks)
        if not limits.in_order:
            self._random.shuffle(self._blocks)
        self._lengths, self._views, self._limits = lengths, views, limits
        self._coming = iter(self._steps())
        self._decoded: list[Step] = []
        self._ready: list[tuple[OpenBlock, int]] = []
        self._bytes = 0
        self._drawn = 0

    def __iter__(self) -> Iterator[Draw]:
        while self._fill():
            block, sample = self._take()
            self._drawn += 1
            places = tuple(view[sample].tolist() for view in block.places)
            steps, self._decoded = tuple(self._decoded), []
            yield Draw(block, int(block.samples[sample]), steps, places, self._release(block, places))

    def _take(self) -> tuple[OpenBlock, int]:
        if self._limits.in_order:
            return self._ready.pop(0)
        at = self._random.randrange(len(self._ready))
        self._ready[at], self._ready[-1] = self._ready[-1], self._ready[at]
        return self._ready.pop()

    def _fill(self) -> bool:
        """Has steps decoded until the buffer is as full as it should be; whether there is a sample in it."""
        wanted = 1
        if not self._limits.in_order:
            wanted = max(1, min(self._limits.samples, _FIRST_FILL + self._drawn // _GROWTH))
        while len(self._ready) < wanted and not (self._ready and self._bytes >= self._limits.picture_bytes):
            step = next(self._coming, None)
            if step is None:
                break
            self._decoded.append(step)
            for view, (first, last) in zip(self._views, step.frames, strict=True):
                self._bytes += (last - first) * view.frame_bytes
            self._ready.extend((step.block, int(sample)) for sample in step.block.ready[step.number])
        return bool(self._ready)

    def _steps(self) -> Iterator[Step]:
        for block in self._blocks:
            length = self._lengths[block.episode]
            yield from OpenBlock(block, length, self._views, self._limits.step_frames).steps

    def _release(self, block: OpenBlock, places: tuple[list[int], ...]) -> tuple[list[int], ...]:
        done = []
        for view, uses, shown in zip(self._views, block.uses, places, strict=True):
            gone = []
            for place in shown:
                uses[place] -= 1
                if not uses[place]:
                    gone.append(place)
            self._bytes -= len(gone) * view.frame_bytes
            done.append(gone)
        return tuple(done)
