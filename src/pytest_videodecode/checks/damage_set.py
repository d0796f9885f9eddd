"""The damages that every decoder is asked to survive: each operator at several regions, the same for one seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from pytest_videodecode.damage.base import MAX_SEED
from pytest_videodecode.damage.damage import AnyOperator, Damage
from pytest_videodecode.damage.mapping import byte_map
from pytest_videodecode.damage.operators import (
    Burst,
    DamageHeader,
    FlipBits,
    FlipBytes,
    Insert,
    Scatter,
    Splice,
    Truncate,
    Zero,
)
from pytest_videodecode.damage.packets import DropPacket, DuplicatePacket, SwapPackets
from pytest_videodecode.damage.regions import ByteMap
from pytest_videodecode.model import Clip

#: The damages of the experiment that this package grew from.
FLIPS = 200
KEPT = 0.6

#: Longest stretch that is zeroed, overwritten or inserted inside a packet or header, in bytes.
_STRETCH = 64

#: Sizes and counts that a parser may not have thought of.
_WORDS = (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


def damage_set(clip: Clip, seed: int) -> tuple[Damage, ...]:
    """About 30 damages of ``clip``, which fit its file but for those that FFmpeg cannot mux again.

    Raises:
        DamageError: the clip's file is absent or empty.
    """
    mapped = byte_map(clip)
    aim = _Aim(mapped, random.Random(seed))
    operators = [*_on_bytes(aim), *_on_packets(aim)]
    if clip.spec is not None:
        operators.append(Splice(other=replace(clip.spec, texture=(clip.spec.texture + 1) % 2**32).name))
    return tuple(Damage((operator,)) for operator in operators)


class _Aim:
    """Draws regions that the file has, and places in them."""

    def __init__(self, mapped: ByteMap, source: random.Random) -> None:
        self._mapped = mapped
        self._source = source
        self._present = mapped.present()
        self.size = mapped.size
        self.packets = len(mapped.packets)

    def regions(self, *names: str) -> list[str]:
        """Those of ``names`` with bytes in this file; ``packet`` is one packet behind the first, drawn anew."""
        drawn = [f"packet:{self.packet()}" if name == "packet" and self.packets else name for name in names]
        numbered = {f"packet:{number}" for number, packet in enumerate(self._mapped.packets) if packet.ranges}
        return [name for name in drawn if name in numbered or name in self._present]

    def packet(self) -> int:
        """The number of a packet, not of the first where there are others."""
        return self._source.randrange(min(1, self.packets - 1), self.packets)

    def bytes_of(self, region: str) -> int:
        """Its size."""
        return self._mapped.region(region).size

    def offset(self, region: str, length: int = 1) -> int:
        """Where ``length`` bytes lie inside ``region``."""
        return self._source.randrange(self.bytes_of(region) - length + 1)

    def stretch(self, region: str) -> tuple[int, int]:
        """Offset and length of some bytes of ``region``."""
        length = self._source.randint(1, min(_STRETCH, self.bytes_of(region)))
        return self.offset(region, length), length

    def keyframe(self) -> int:
        """The number of a keyframe's packet, not of the first where there are others."""
        numbers = [number for number, packet in enumerate(self._mapped.packets) if packet.keyframe]
        return self._source.choice(numbers[1:] or numbers or [0])

    def seed(self) -> int:
        """A seed for an operator."""
        return self._source.randint(0, MAX_SEED)

    def mask(self) -> int:
        """Bits to flip in a byte."""
        return self._source.randint(1, 255)

    def word(self) -> int:
        """A word for a header."""
        return self._source.choice(_WORDS)


def _on_bytes(aim: _Aim) -> Iterator[AnyOperator]:
    for region in aim.regions("media"):
        for count in (FLIPS, 3):
            yield Scatter(region=region, count=min(count, aim.bytes_of(region)), seed=aim.seed())
    yield from (Truncate(keep_fraction=share) for share in (KEPT, 0.97, 0.02))
    for region in aim.regions("packet", "keyframes", "index", "header"):
        yield FlipBytes(region=region, flips=((aim.offset(region), aim.mask()),))
    for region in aim.regions("packet", "after_first", "any"):
        yield FlipBits(region=region, bits=(8 * aim.offset(region) + aim.mask() % 8,))
    for region in aim.regions("packet", "keyframes", "index"):
        offset, length = aim.stretch(region)
        yield Burst(region=region, offset=offset, length=length, seed=aim.seed())
    for region in aim.regions("packet"):
        yield Zero(region=region, offset=0, length=aim.bytes_of(region))
    for region in aim.regions("keyframes", "header"):
        offset, length = aim.stretch(region)
        yield Zero(region=region, offset=offset, length=length)
    for region in aim.regions("media", "index"):
        offset, length = aim.stretch(region)
        yield Insert(region=region, offset=offset, length=length, seed=aim.seed())
    for region in aim.regions("header", "index"):
        if aim.bytes_of(region) >= 4:
            yield DamageHeader(region=region, offset=aim.offset(region, 4), word=aim.word())


def _on_packets(aim: _Aim) -> Iterator[AnyOperator]:
    if aim.packets < 3:
        return
    yield DropPacket(packet=aim.packet())
    yield DropPacket(packet=aim.keyframe())
    yield DuplicatePacket(packet=aim.packet())
    number = aim.packet()
    yield SwapPackets(packet=number - 1, other=number)
    yield SwapPackets(packet=number, other=(number + aim.packets // 2) % aim.packets)
