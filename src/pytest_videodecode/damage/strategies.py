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
from pytest_videodecode.damage.damage import AnyOperator, Damage
from pytest_videodecode.damage.mapping import map_bytes, read_bytes
from pytest_videodecode.damage.operator_strategies import MAX_FLIPS, on_bytes, on_packets
from pytest_videodecode.damage.operators import FlipBits, FlipBytes, Splice
from pytest_videodecode.damage.packets import PacketOperator
from pytest_videodecode.damage.remux import can_remux
from pytest_videodecode.model import Clip, ClipSpec, DecodeRequest, DecoderInfo

MAX_OPERATORS = 4
#: Most frames that one request asks for.
MAX_ASKED = 16

_LAYOUTS = ("faststart", "moov at the end", "fragmented")
_PIX_FMTS = ("yuv420p", "yuv420p10le", "yuv422p", "yuv444p")
_RATES = (Fraction(30), Fraction(25), Fraction(30000, 1001), Fraction(60), Fraction(10))
_FLAGS = st.booleans()


def damages(clip: Clip, *, splice_with: Sequence[str] | None = None) -> SearchStrategy[Damage]:
    """Damage that fits ``clip``: 1 to 4 operators, at most 200 flips; shrinks to one flip in the media.

    Offsets are spread over their region, and most flips land in the media. ``scatter`` is not drawn, as its flips
    cannot be taken away one by one: ``flip_bytes`` with as many is. Operators on packets are drawn
    where FFmpeg can mux the file again. ``splice_with`` are recipe texts of clips to splice with; by default a
    synthetic clip is spliced with itself in another texture, a real file with nothing.

    Raises:
        DamageError: the clip's file is absent or empty.
    """
    data = read_bytes(clip)
    mapped = map_bytes(data)
    if splice_with is None:
        splice_with = [replace(clip.spec, texture=(clip.spec.texture + 1) % 2**32).name] if clip.spec else []
    operators = on_bytes(mapped)
    # the last of the operators may find a packet fewer for each one before it
    if (packets := len(mapped.packets) - MAX_OPERATORS) > 1 and can_remux(data):
        operators += on_packets(packets)
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
    times = clip.times or (Fraction(0),)  # of a broken file, a frame that it does not have
    # a run by its last frame: so its length shrinks without losing the frame that matters
    count, stride, last = st.integers(1, MAX_ASKED), st.integers(1, 8), st.integers(0, len(times) - 1)
    run = st.builds(lambda count, stride, last: range(last, -1, -stride)[:count][::-1], count, stride, last)
    frames = st.lists(run, min_size=1, max_size=MAX_ASKED).map(
        lambda runs: tuple(number for run in runs for number in run)[:MAX_ASKED]
    )
    by = {
        "indices": frames.map(lambda chosen: {"indices": chosen}),
        "timestamps": frames.map(lambda chosen: {"timestamps": tuple(float(times[number]) for number in chosen)}),
    }
    asked = st.one_of([each for name, each in by.items() if decoder is None or name in decoder.asks])
    settings = st.fixed_dictionaries(_settings(decoder) if decoder else {})
    return st.tuples(asked, settings).map(lambda parts: DecodeRequest(path=clip.path, **parts[0], **parts[1]))


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


def _in_order(operators: list[AnyOperator]) -> Damage:
    return Damage(tuple(sorted(operators, key=lambda operator: not isinstance(operator, PacketOperator))))


def _few_flips(damage: Damage) -> bool:
    flips = [len(each.flips) for each in damage.operators if isinstance(each, FlipBytes)]
    bits = [len(each.bits) for each in damage.operators if isinstance(each, FlipBits)]
    return sum(flips) + sum(bits) <= MAX_FLIPS


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
