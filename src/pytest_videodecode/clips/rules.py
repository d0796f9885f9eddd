"""Which clip specs can be made: the bounds, and the combinations that codecs and containers allow."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from pytest_videodecode.clips import marks
from pytest_videodecode.clips.timing import tick
from pytest_videodecode.errors import ClipError
from pytest_videodecode.model import ClipSpec

MAX_FRAMES = marks.MAX_NUMBER + 1
MAX_SIDE = 4096
#: Bounds the time and memory that one clip takes to make.
MAX_PIXELS = 2_000_000_000
MAX_BFRAMES = 8
MAX_START = Fraction(24 * 3600)
# A pts is written in ticks that hold both the frame duration and the start; finer ticks overflow some muxers.
MAX_TICKS = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class CodecRules:
    """What a codec's encoders can be asked for; ``quality`` is the range of crf (MPEG-4: of qscale)."""

    quality: tuple[int, int]
    default_quality: int
    pix_fmts: tuple[str, ...]
    max_gop: int = MAX_FRAMES
    max_bframes: int = 0
    open_gop: bool = False
    odd_sizes: tuple[str, ...] = ()  # the pixel formats in which a side may be odd


@dataclass(frozen=True, kw_only=True, slots=True)
class ContainerRules:
    """What a container holds; ``format`` is FFmpeg's muxer, ``audio`` the encoder of an audio track in it."""

    format: str
    codecs: tuple[str, ...]
    audio: str
    tick: Fraction | None  # coarsest rounding of times; None where they are exact
    own_times: bool = True  # stores a pts for each packet


_PLAIN = ("yuv420p", "yuv422p", "yuv444p")
_DEEP = ("yuv420p10le", "yuv422p10le", "yuv444p10le")

CODECS: dict[str, CodecRules] = {
    "av1": CodecRules(quality=(0, 63), default_quality=35, pix_fmts=("yuv420p", "yuv420p10le")),
    "h264": CodecRules(
        quality=(0, 51),
        default_quality=23,
        pix_fmts=_PLAIN + _DEEP,
        max_bframes=MAX_BFRAMES,
        open_gop=True,
        odd_sizes=("yuv444p", "yuv444p10le"),
    ),
    "mpeg4": CodecRules(
        quality=(1, 31),
        default_quality=4,
        pix_fmts=("yuv420p",),
        max_gop=600,  # the limit of FFmpeg's encoder
        max_bframes=MAX_BFRAMES,
        odd_sizes=("yuv420p",),
    ),
    "hevc": CodecRules(
        quality=(0, 51), default_quality=28, pix_fmts=_PLAIN + _DEEP, max_bframes=MAX_BFRAMES, open_gop=True
    ),
    "vp9": CodecRules(quality=(0, 63), default_quality=32, pix_fmts=_PLAIN, odd_sizes=_PLAIN),
}

CONTAINERS: dict[str, ContainerRules] = {
    "mp4": ContainerRules(format="mp4", codecs=tuple(CODECS), audio="aac", tick=None),
    "mkv": ContainerRules(format="matroska", codecs=tuple(CODECS), audio="aac", tick=Fraction(1, 1000)),
    "webm": ContainerRules(format="webm", codecs=("av1", "vp9"), audio="libopus", tick=Fraction(1, 1000)),
    "ts": ContainerRules(format="mpegts", codecs=("h264", "mpeg4", "hevc"), audio="aac", tick=Fraction(1, 90000)),
    "avi": ContainerRules(format="avi", codecs=("h264", "mpeg4"), audio="libmp3lame", tick=None, own_times=False),
}


def require_usable(spec: ClipSpec) -> None:
    """Raise ``ClipError`` with one line that says what is possible, where ``spec`` cannot be made."""
    if fault := _bounds(spec) or _codec(spec) or _container(spec):
        raise ClipError(f"clip {spec.name}: {fault}")


def _bounds(spec: ClipSpec) -> str:
    if not (marks.MIN_WIDTH <= spec.width <= MAX_SIDE and marks.MIN_HEIGHT <= spec.height <= MAX_SIDE):
        return (
            f"a size of {spec.width}x{spec.height} is not possible; the frame mark needs "
            f"{marks.MIN_WIDTH}x{marks.MIN_HEIGHT}, and {MAX_SIDE} is the longest side"
        )
    if not 1 <= spec.frames <= MAX_FRAMES:
        return f"{spec.frames} frames are not possible; give 1 to {MAX_FRAMES}"
    if spec.width * spec.height * spec.frames > MAX_PIXELS:
        return f"{spec.width}x{spec.height} with {spec.frames} frames is more than {MAX_PIXELS:,} pixels in all"
    if not 1 <= spec.rate <= 240 or spec.rate.numerator > 60000:
        return f"a rate of {spec.rate} is not possible; give 1 to 240 frames a second, such as 30 or 30000/1001"
    if not 0 <= spec.start <= MAX_START:
        return f"a start of {spec.start} s is not possible; give 0 to {MAX_START} s"
    if not 0 <= spec.texture < 2**32:
        return f"a texture seed of {spec.texture} is not possible; give 0 to {2**32 - 1}"
    return ""


def _codec(spec: ClipSpec) -> str:
    rules = CODECS.get(spec.codec)
    if rules is None:
        return f"unknown codec {spec.codec!r}; known are {', '.join(CODECS)}"
    low, high = rules.quality
    if spec.quality is not None and not low <= spec.quality <= high:
        return f"a quality of {spec.quality} is not possible; {spec.codec} takes {low} (best) to {high}"
    if spec.pix_fmt not in rules.pix_fmts:
        return f"{spec.codec} cannot have the pixel format {spec.pix_fmt!r}; use {', '.join(rules.pix_fmts)}"
    if not 1 <= spec.gop <= rules.max_gop:
        return f"a GOP of {spec.gop} frames is not possible; {spec.codec} takes 1 to {rules.max_gop}"
    if not 0 <= spec.bframes <= rules.max_bframes:
        return f"{spec.bframes} B-frames are not possible; {spec.codec} takes 0 to {rules.max_bframes}"
    if spec.bframes >= spec.gop:
        return f"{spec.bframes} B-frames do not fit a GOP of {spec.gop}; use fewer, or a longer GOP"
    if spec.bframes and spec.frames < spec.bframes + 2:
        return f"{spec.bframes} B-frames need {spec.bframes + 2} frames at least, not {spec.frames}"
    if spec.open_gop and not (rules.open_gop and spec.bframes):
        able = [name for name, other in CODECS.items() if other.open_gop]
        return f"an open GOP needs {' or '.join(able)} with at least one B-frame"
    if spec.open_gop and spec.frames <= spec.gop + spec.bframes:
        return f"an open GOP of {spec.gop} shows in more than {spec.gop + spec.bframes} frames; ask more frames"
    if (spec.width % 2 or spec.height % 2) and spec.pix_fmt not in rules.odd_sizes:
        able = [f"{name} ({', '.join(other.odd_sizes)})" for name, other in CODECS.items() if other.odd_sizes]
        return f"{spec.codec} in {spec.pix_fmt} needs even sides; odd ones are possible with {'; '.join(able)}"
    return ""


def _container(spec: ClipSpec) -> str:
    rules = CONTAINERS.get(spec.container)
    if rules is None:
        return f"unknown container {spec.container!r}; known are {', '.join(CONTAINERS)}"
    if spec.codec not in rules.codecs:
        return f"{spec.container} cannot hold {spec.codec}; it holds {', '.join(rules.codecs)}"
    if spec.container != "mp4" and (spec.fragmented or not spec.faststart):
        return "fragmented and faststart=False are of mp4 only; use container mp4"
    if not rules.own_times and (spec.variable_rate or spec.start):
        return f"{spec.container} stores no times; a start or a variable rate needs another container"
    if tick(spec).denominator > MAX_TICKS:
        return f"a start of {spec.start} s fits no time base with {spec.rate} frames a second; use a rounder start"
    return ""
