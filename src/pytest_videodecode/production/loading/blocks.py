"""Blocks: the samples that are decoded together, so that a frame that several of them show is decoded once.

Windows whose steps are ``pitch`` frames apart share frames only with samples a multiple of ``pitch`` away. Where the
pitch is wide, a block is therefore a comb: ``width`` neighbouring samples out of every ``pitch``, all along the
episode, and the frames it needs lie on the same teeth, which are whole GOPs. The samples of an 8-step window with
steps of a second thus need one new frame each, without an episode's worth of pictures in memory. Otherwise a block
is a stretch of the episode.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

# A stretch as long as this costs little for the seek at its start, and leaves many blocks to be mixed.
_STRETCH = 32
# A comb as large as this makes little of the frame at the episode's end that each one needs for its padding.
_COMB = 48
# A block decodes the reach of its windows once more than it has samples. These bound that to a quarter in a stretch,
# and to a sixteenth in a comb, whose pictures are so much fewer.
_STRETCH_REACHES, _COMB_REACHES = 4, 16


@dataclass(frozen=True, slots=True)
class Block:
    """Samples of one episode: ``width`` frames from ``start``, again every ``pitch``, below ``stop``.

    Of those, in their order, ``skip`` are left out at the front and ``count`` taken.
    """

    episode: int
    start: int
    stop: int
    width: int
    pitch: int
    skip: int
    count: int

    def frames(self) -> NDArray[np.int64]:
        """The frame numbers of the samples, ascending."""
        teeth = np.arange(self.start, self.stop, self.pitch)[:, None]
        frames = (teeth + np.arange(self.width)).ravel()
        return frames[frames < self.stop][self.skip : self.skip + self.count]


@dataclass(frozen=True, slots=True)
class BlockLayout:
    """How episodes are cut into blocks. All in frames.

    ``offsets`` are those of all cameras' windows; ``limit`` is the most samples of a block, for memory's sake.
    ``in_order`` makes an episode one block.
    """

    offsets: tuple[int, ...]
    keyframe_interval: int
    limit: int
    in_order: bool = False

    @property
    def reach(self) -> int:
        """From the first to the last frame of a window."""
        return max(self.offsets) - min(self.offsets)

    def blocks(self, episode: int, length: int) -> Iterator[Block]:
        """The blocks of an episode of ``length`` frames; each of its frames is a sample of exactly one."""
        if self.in_order:
            yield Block(episode, 0, length, length, length, 0, length)
            return
        pitch = math.gcd(*(offset - self.offsets[0] for offset in self.offsets))
        gop = self.keyframe_interval
        if 2 * gop <= pitch:
            teeth = math.ceil(length / pitch)
            width = min(_multiple(math.ceil(_COMB / teeth), gop), pitch // 2 // gop * gop)
            longest = max(1, min(self.limit // width, _COMB_REACHES * self.reach // pitch))
            for start in range(0, min(pitch, length), width):
                wide = min(width, pitch - start)
                for first, last in _even(0, math.ceil((length - start) / pitch), longest):
                    stop = min(length, start + (last - 1) * pitch + wide)
                    yield _whole(episode, start + first * pitch, stop, wide, pitch)
        else:
            long = min(_multiple(max(_STRETCH, _STRETCH_REACHES * self.reach), gop), self.limit)
            for first in range(0, length, long):
                last = min(first + long, length)
                yield Block(episode, first, last, last - first, last - first, 0, last - first)


def share(blocks: Iterable[Block], index: int, count: int) -> list[Block]:
    """Part ``index`` of ``count`` of the blocks' samples: no two parts share one, and they differ by one at most."""
    whole = list(blocks)
    total = sum(block.count for block in whole)
    first, last = total * index // count, total * (index + 1) // count
    part = []
    at = 0
    for block in whole:
        low, high = max(first - at, 0), min(last - at, block.count)
        if low < high:
            part.append(
                block if high - low == block.count else replace(block, skip=block.skip + low, count=high - low)
            )
        at += block.count
    return part


def all_blocks(layout: BlockLayout, episodes: Sequence[int], lengths: Sequence[int]) -> Iterator[Block]:
    """The blocks of ``episodes`` in their order; ``lengths`` are those of all episodes of the data set."""
    for episode in episodes:
        yield from layout.blocks(episode, int(lengths[episode]))


def _whole(episode: int, start: int, stop: int, width: int, pitch: int) -> Block:
    count = sum(min(width, stop - tooth) for tooth in range(start, stop, pitch))
    return Block(episode, start, stop, width, pitch, 0, count)


def _multiple(number: int, of: int) -> int:
    return math.ceil(number / of) * of


def _even(first: int, last: int, longest: int) -> Iterator[tuple[int, int]]:
    """Cuts [first, last) into parts of nearly equal size, none longer than ``longest``."""
    parts = math.ceil((last - first) / longest)
    for part in range(parts):
        yield first + (last - first) * part // parts, first + (last - first) * (part + 1) // parts
