"""Hypothesis strategies for tests of your own: damage to a clip, requests on it, specs of clips.

Each draws plain values, which print as what they are and have a JSON form, and costs well under a millisecond an
operator. Decode in a worker, and give the test ``deadline=None``::

    @settings(deadline=None)
    @given(damage=damages(clip), request=decode_requests(clip))
    def test_outcome_is_known(damage: Damage, request: DecodeRequest) -> None: ...
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from pytest_videodecode.clips.marks import MIN_HEIGHT, MIN_WIDTH
from pytest_videodecode.clips.rules import CODECS, CONTAINERS, require_usable
from pytest_videodecode.damage.base import MAX_SEED
from pytest_videodecode.damage.damage import AnyOperator, Damage
from pytest_videodecode.damage.mapping import map_bytes, read_bytes
from pytest_videodecode.damage.operators import (
    MAX_WORD,
    Burst,
    DamageHeader,
    FlipBits,
    FlipBytes,
    Insert,
    Splice,
    Truncate,
    Zero,
)
from pytest_videodecode.damage.packets import DropPacket, DuplicatePacket, PacketOperator, SwapPackets
from pytest_videodecode.damage.regions import ByteMap
from pytest_videodecode.damage.remux import can_remux
from pytest_videodecode.model import Clip, ClipSpec, DecodeRequest, DecoderInfo

MAX_OPERATORS = 4
#: Most bytes or bits that the operators of one damage flip together.
MAX_FLIPS = 200
#: Most frames that one request asks for.
MAX_ASKED = 16

_MAX_STRETCH = 4096
_LAYOUTS = ("faststart", "moov at the end", "fragmented")
_PIX_FMTS = ("yuv420p", "yuv420p10le", "yuv422p", "yuv444p")
_RATES = (Fraction(30), Fraction(25), Fraction(30000, 1001), Fraction(60), Fraction(10))
_FLAGS = st.booleans()
_SEEDS = st.integers(0, MAX_SEED)
_WORD = 4  # bytes
_FINE = 3  # bytes that say which part of a region is meant

# What a parser of sizes and counts may not have thought of; 0 is the simplest.
_WORDS = (0, 1, 0x7FFFFFFF, 0x80000000, MAX_WORD)

#: A region's name and its size in bytes.
_Target = tuple[str, int]


def damages(clip: Clip, *, splice_with: Sequence[str] | None = None) -> SearchStrategy[Damage]:
    """Damage that fits ``clip``: 1 to 4 operators, at most 200 flips; shrinks to one flip in the media.

    Offsets are spread over their region, and every second flip or so lands in the media. ``scatter`` is not drawn,
    as its flips cannot be taken away one by one: ``flip_bytes`` with as many is. Operators on packets are drawn
    where FFmpeg can mux the file again. ``splice_with`` are recipe texts of clips to splice with; by default a
    synthetic clip is spliced with itself in another texture, a real file with nothing.

    Raises:
        DamageError: the clip's file is absent or empty.
    """
    data = read_bytes(clip)
    mapped = map_bytes(data)
    if splice_with is None:
        splice_with = [replace(clip.spec, texture=(clip.spec.texture + 1) % 2**32).name] if clip.spec else []
    operators = _on_bytes(mapped)
    # every operator drops a packet at most, and each must leave one
    if (packets := len(mapped.packets) - MAX_OPERATORS) > 1 and can_remux(data):
        operators += _on_packets(packets)
    if splice_with:
        fractions = st.integers(1, 99).map(lambda percent: percent / 100)
        operators.append(st.builds(Splice, other=st.sampled_from(splice_with), fraction=fractions))
    return st.lists(st.one_of(operators), min_size=1, max_size=MAX_OPERATORS).map(_in_order).filter(_few_flips)


def decode_requests(clip: Clip, decoder: DecoderInfo | None = None) -> SearchStrategy[DecodeRequest]:
    """Requests for frames of ``clip`` that it has; shrinks to frame 0, asked by index, all else unset.

    Runs of frames with a stride, one after another in any order, with repeats: 16 frames at most. ``decoder`` says
    what else can be asked (thread counts and types, how the file is opened, log level, stopping early); without it
    frames are asked and nothing else.
    """
    last = max(clip.frames - 1, 0)
    run = st.tuples(st.integers(0, last), st.integers(1, MAX_ASKED), st.integers(1, 8))
    frames = st.lists(run, min_size=1, max_size=MAX_ASKED).map(
        lambda runs: tuple(n for start, count, stride in runs for n in _run(start, count, stride, last))[:MAX_ASKED]
    )
    asked: dict[str, SearchStrategy[dict[str, Any]]] = {"indices": frames.map(lambda chosen: {"indices": chosen})}
    if clip.times:
        asked["timestamps"] = frames.map(lambda chosen: {"timestamps": tuple(float(clip.times[n]) for n in chosen)})
    by = st.one_of([each for name, each in asked.items() if decoder is None or name in decoder.asks])
    return st.builds(
        lambda asked, settings: DecodeRequest(path=clip.path, **asked, **settings),
        by,
        st.fixed_dictionaries(_settings(decoder) if decoder else {}),
    )


@st.composite
def clip_specs(draw: DrawFn, codecs: Sequence[str] = tuple(CODECS)) -> ClipSpec:
    """Specs that can be made, small enough to be encoded in about a second; shrinks to one small frame in mp4."""
    # Whatever the codec, the same choices are made and then fitted to it: to Hypothesis fewer choices are simpler.
    codec = draw(st.sampled_from(codecs))
    container = draw(st.sampled_from([*CONTAINERS]))
    layout = draw(st.sampled_from(_LAYOUTS))
    pix_fmt = draw(st.sampled_from(_PIX_FMTS))
    frames, gop, bframes = draw(st.integers(1, 48)), draw(st.integers(1, 16)), draw(st.integers(0, 3))
    wider, higher = draw(st.integers(0, 96)), draw(st.integers(0, 64))
    start = draw(st.sampled_from([Fraction(0), Fraction(10)]))
    variable_rate, open_gop, audio = draw(_FLAGS), draw(_FLAGS), draw(_FLAGS)
    rate, texture = draw(st.sampled_from(_RATES)), draw(st.integers(0, 3))

    rules = CODECS[codec]
    if codec not in CONTAINERS[container].codecs:
        container = "mp4"
    if pix_fmt not in rules.pix_fmts:
        pix_fmt = "yuv420p"
    if pix_fmt not in rules.odd_sizes:
        wider, higher = wider & ~1, higher & ~1
    bframes = max(0, min(bframes, rules.max_bframes, gop - 1, frames - 2))
    own_times = CONTAINERS[container].own_times
    spec = ClipSpec(
        codec=codec,
        container=container,
        width=MIN_WIDTH + wider,
        height=MIN_HEIGHT + higher,
        frames=frames,
        rate=rate,
        gop=gop,
        bframes=bframes,
        open_gop=open_gop and rules.open_gop and bframes > 0 and frames > gop + bframes,
        faststart=layout == "faststart" or container != "mp4",
        fragmented=layout == "fragmented" and container == "mp4",
        start=start if own_times else Fraction(0),
        variable_rate=variable_rate and own_times,
        audio=audio,
        pix_fmt=pix_fmt,
        texture=texture,
    )
    require_usable(spec)
    return spec


def _on_bytes(mapped: ByteMap) -> list[SearchStrategy[Any]]:
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


def _on_packets(packets: int) -> list[SearchStrategy[Any]]:
    number = st.integers(0, packets - 1)
    pair = st.tuples(number, number).filter(lambda pair: pair[0] != pair[1])
    return [
        number.map(lambda packet: DropPacket(packet=packet)),
        number.map(lambda packet: DuplicatePacket(packet=packet)),
        pair.map(lambda pair: SwapPackets(packet=min(pair), other=max(pair))),
    ]


def _bunched(item: SearchStrategy[Any]) -> SearchStrategy[list[Any]]:
    """1 to 200 items. In bunches, or long lists would hardly be drawn; every single item can be taken away."""
    bunches = st.lists(st.lists(item, min_size=1, max_size=10), min_size=1, max_size=MAX_FLIPS // 10)
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


def _in_order(operators: list[AnyOperator]) -> Damage:
    return Damage(tuple(sorted(operators, key=lambda operator: not isinstance(operator, PacketOperator))))


def _few_flips(damage: Damage) -> bool:
    flips = [len(each.flips) for each in damage.operators if isinstance(each, FlipBytes)]
    bits = [len(each.bits) for each in damage.operators if isinstance(each, FlipBits)]
    return sum(flips) + sum(bits) <= MAX_FLIPS


def _run(start: int, count: int, stride: int, last: int) -> range:
    return range(start, min(start + count * stride, last + 1), stride)


def _settings(decoder: DecoderInfo) -> dict[str, SearchStrategy[Any]]:
    """The fields of a request, besides frames, that ``decoder`` honours; the first value of each leaves it unset."""
    settings: dict[str, SearchStrategy[Any]] = {"open_as": st.sampled_from(decoder.opens_as)}
    if decoder.threads_by:
        settings["threads"] = st.sampled_from((None, 1, 2, 4, 8, 0))
    if decoder.thread_types:
        settings["thread_type"] = st.sampled_from((None, *decoder.thread_types))
    if decoder.log_levels:
        settings["log_level"] = st.sampled_from((None, "ERROR"))
    if decoder.stops_early:
        settings["stop_after"] = st.none() | st.integers(1, MAX_ASKED)
    return settings
