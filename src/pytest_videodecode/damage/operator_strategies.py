"""What ``strategies.damages`` draws its operators from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from pytest_videodecode.damage.base import MAX_SEED
from pytest_videodecode.damage.operators import (
    MAX_WORD,
    Burst,
    DamageHeader,
    FlipBits,
    FlipBytes,
    Insert,
    Truncate,
    Zero,
)
from pytest_videodecode.damage.packets import DropPacket, DuplicatePacket, SwapPackets
from pytest_videodecode.damage.regions import ByteMap

#: Most bytes or bits that one operator flips, and all operators of one damage together.
MAX_FLIPS = 200

_BUNCH = 10
_MAX_STRETCH = 4096
_SEEDS = st.integers(0, MAX_SEED)
_WORD = 4  # bytes
_FINE = 3  # bytes that say which part of a region is meant

# What a parser of sizes and counts may not have thought of; 0 is the simplest.
_WORDS = (0, 1, 0x7FFFFFFF, 0x80000000, MAX_WORD)

#: A region's name and its size in bytes.
_Target = tuple[str, int]


def on_bytes(mapped: ByteMap) -> list[SearchStrategy[Any]]:
    """One strategy for each operator on bytes that fits the file, simplest first."""
    named = [(name, mapped.region(name).size) for name in mapped.present()]
    numbered = [(f"packet:{number}", packet.size) for number, packet in enumerate(mapped.packets) if packet.size]
    target = st.just(named[0]) | st.sampled_from(named)
    if numbered:
        target |= st.sampled_from(numbered)
    words = [each for name in ("header", "index", "any") for each in named if each[0] == name and each[1] >= _WORD]
    return [
        _flip_bytes(target),
        _flip_bits(target),
        _zero(target),
        _burst(target),
        _insert(target),
        _place(mapped.size).map(lambda lost: Truncate(keep_bytes=mapped.size - 1 - lost)),
        *([_damage_header(words)] if words else []),
    ]


def on_packets(packets: int) -> list[SearchStrategy[Any]]:
    """One strategy for each operator on packets, for the packets with numbers below ``packets``."""
    number = st.integers(0, packets - 1)
    pair = st.tuples(number, number).filter(lambda pair: pair[0] != pair[1])
    return [
        number.map(lambda packet: DropPacket(packet=packet)),
        number.map(lambda packet: DuplicatePacket(packet=packet)),
        pair.map(lambda pair: SwapPackets(packet=min(pair), other=max(pair))),
    ]


def _bunched(item: SearchStrategy[Any]) -> SearchStrategy[list[Any]]:
    """1 to 200 items. In bunches, or long lists would hardly be drawn; every single item can be taken away."""
    bunches = st.lists(st.lists(item, min_size=1, max_size=_BUNCH), min_size=1, max_size=MAX_FLIPS // _BUNCH)
    return bunches.map(lambda lists: [each for part in lists for each in part])


def _place(size: int) -> SearchStrategy[int]:
    """0 to ``size - 1``, evenly: of wide ranges ``integers`` draws mostly small numbers."""
    return st.binary(min_size=_FINE, max_size=_FINE).map(lambda raw: _scaled(raw, size))


def _scaled(raw: bytes, size: int) -> int:
    return int.from_bytes(raw) * size >> 8 * _FINE


@st.composite
def _flip_bytes(draw: DrawFn, target: SearchStrategy[_Target]) -> FlipBytes:
    region, size = draw(target)
    # one choice for both numbers of a flip: fewer choices shrink faster
    raw = st.binary(min_size=_FINE + 1, max_size=_FINE + 1)
    flips = draw(_bunched(raw.map(lambda raw: (_scaled(raw[:-1], size), 1 + raw[-1] % 255))))
    return FlipBytes(region=region, flips=tuple(dict(flips).items()))  # two flips of one byte might cancel out


@st.composite
def _flip_bits(draw: DrawFn, target: SearchStrategy[_Target]) -> FlipBits:
    region, size = draw(target)
    bits = draw(_bunched(_place(8 * size)))
    return FlipBits(region=region, bits=tuple(dict.fromkeys(bits)))


@st.composite
def _zero(draw: DrawFn, target: SearchStrategy[_Target]) -> Zero:
    region, size = draw(target)
    offset = draw(_place(size))
    return Zero(region=region, offset=offset, length=draw(st.integers(1, min(size - offset, _MAX_STRETCH))))


@st.composite
def _burst(draw: DrawFn, target: SearchStrategy[_Target]) -> Burst:
    region, size = draw(target)
    offset = draw(_place(size))
    length = draw(st.integers(1, min(size - offset, _MAX_STRETCH)))
    return Burst(region=region, offset=offset, length=length, seed=draw(_SEEDS))


@st.composite
def _insert(draw: DrawFn, target: SearchStrategy[_Target]) -> Insert:
    region, size = draw(target)
    offset, length = draw(_place(size)), draw(st.integers(1, _MAX_STRETCH))
    return Insert(region=region, offset=offset, length=length, seed=draw(_SEEDS))


@st.composite
def _damage_header(draw: DrawFn, targets: Sequence[_Target]) -> DamageHeader:
    region, size = draw(st.sampled_from(targets))
    return DamageHeader(region=region, offset=draw(_place(size - _WORD + 1)), word=draw(st.sampled_from(_WORDS)))
