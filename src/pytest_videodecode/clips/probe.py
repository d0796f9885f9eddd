"""What the finished file of a synthetic clip really shows; nothing is believed from its spec."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import numpy as np

from pytest_videodecode.clips import marks
from pytest_videodecode.clips.rules import CONTAINERS
from pytest_videodecode.clips.timing import frame_time
from pytest_videodecode.clips.truth import Truth, in_order
from pytest_videodecode.errors import ClipError
from pytest_videodecode.model import ClipSpec


def probe(spec: ClipSpec, path: Path) -> Truth:
    """The truth about the file made from ``spec``: one pass over it, decoded by PyAV in one thread.

    Raises:
        ClipError: the file does not show the frames 0, 1, 2, … of ``spec`` at its times, or has another GOP.
    """
    numbers: list[int | None] = []
    times: list[Fraction | None] = []
    keyframes: list[int] = []
    packets: list[tuple[int | None, bool]] = []
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.thread_type, stream.codec_context.thread_count = "NONE", 1
        for packet in container.demux(stream):
            if packet.size:
                packets.append((packet.pts, packet.is_keyframe))
            for frame in packet.decode():
                if frame.key_frame:
                    keyframes.append(len(numbers))
                numbers += marks.read(frame.to_ndarray(format="rgb24")[None].astype(np.uint8, copy=False))
                times.append(_seconds(frame.pts, frame.time_base))
        truth = Truth(
            codec=stream.codec_context.codec.canonical_name,
            container=container.format.name,
            width=stream.width,
            height=stream.height,
            times=in_order(times, stream.average_rate),
            keyframes=tuple(keyframes),
        )
    if fault := _numbers(spec, numbers) or _gop(spec, keyframes, packets) or _times(spec, truth.times):
        raise ClipError(f"clip {spec.name}: {fault}")
    return truth


def _seconds(pts: int | None, unit: Fraction | None) -> Fraction | None:
    return None if pts is None or unit is None else pts * unit


def _numbers(spec: ClipSpec, numbers: list[int | None]) -> str:
    if numbers == list(range(spec.frames)):
        return ""
    wrong = next((i for i, number in enumerate(numbers) if number != i), len(numbers))
    shown = f"frame {wrong} shows {numbers[wrong]}" if wrong < len(numbers) else "all in order"
    return f"{len(numbers)} of {spec.frames} frames can be decoded from the new file, {shown}; ask a better quality"


def _gop(spec: ClipSpec, keyframes: list[int], packets: list[tuple[int | None, bool]]) -> str:
    wanted = list(range(0, spec.frames, spec.gop))
    marked = sum(is_key for _, is_key in packets)
    if keyframes != wanted or marked != len(wanted):
        return (
            f"asked a keyframe every {spec.gop} frames, the encoder made {marked} of them, at {keyframes}; "
            f"use another GOP"
        )
    # In AVI a packet's time is that of its place in the file, and tells nothing.
    if CONTAINERS[spec.container].own_times and spec.open_gop and not _has_leading_frames(packets):
        return "asked an open GOP, the encoder made closed ones; use another GOP or number of B-frames"
    return ""


def _has_leading_frames(packets: list[tuple[int | None, bool]]) -> bool:
    """Whether a frame is stored after a keyframe and shown before it: what makes a GOP open."""
    latest_key: int | None = None
    for pts, is_key in packets:
        if is_key:
            latest_key = pts
        elif pts is not None and latest_key is not None and pts < latest_key:
            return True
    return False


def _times(spec: ClipSpec, times: tuple[Fraction, ...]) -> str:
    rounding = CONTAINERS[spec.container].tick or Fraction(0)
    # Where decoding starts before zero, for B-frames, most muxers shift the whole clip up.
    latest_start = spec.start + (spec.bframes + 1) / spec.rate + rounding
    if not spec.start - rounding <= times[0] <= latest_start:
        return f"asked a start of {spec.start} s, the file starts at {times[0]} s; use another container"
    for number, time in enumerate(times):
        off = (time - times[0]) - (frame_time(spec, number) - spec.start)
        if abs(off) > rounding:
            return f"frame {number} is {float(off):g} s off its time; use another rate or container"
    return ""
