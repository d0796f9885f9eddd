from __future__ import annotations

import io
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import pytest

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.damage.containers import mp4_boxes
from pytest_videodecode.damage.mapping import read_bytes
from pytest_videodecode.damage.remux import Sample, can_remux, remux
from pytest_videodecode.errors import DamageError
from pytest_videodecode.model import Clip, ClipSpec


def nothing(samples: list[Sample]) -> None:
    pass


def tracks(data: bytes) -> list[list[tuple[Any, ...]]]:
    found = []
    with av.open(io.BytesIO(data), "r") as source:
        for stream in [*source.streams.video, *source.streams.audio]:
            source.seek(0)
            unit = stream.time_base or Fraction(0)
            kept = [packet for packet in source.demux(stream) if packet.size]
            found.append([(bytes(p), (p.pts or 0) * unit, (p.dts or 0) * unit, p.is_keyframe) for p in kept])
    return found


def test_unedited_packets_stay_as_they_are_with_their_times(clip: Clip) -> None:
    data = read_bytes(clip)
    assert tracks(remux(data, nothing)) == tracks(data)


def test_equal_input_gives_equal_output(clip: Clip) -> None:
    assert remux(read_bytes(clip), nothing) == remux(read_bytes(clip), nothing)


@pytest.mark.parametrize("name", ["mp4", "mp4-moov-at-end", "mp4-fragmented"])
def test_layout_of_mp4_is_kept(small_clips: dict[str, Clip], name: str) -> None:
    data = read_bytes(small_clips[name])

    def layout(content: bytes) -> list[bytes]:
        return [kind for kind, *_ in mp4_boxes(content) if kind not in (b"free", b"mfra")]

    assert layout(remux(data, nothing)) == layout(data)


def test_start_of_a_fragmented_file_is_kept(clip_cache: ClipCache) -> None:
    spec = ClipSpec(codec="h264", width=160, height=96, frames=12, gop=4, fragmented=True, start=Fraction(10))
    data = read_bytes(clip_cache.clip(spec))
    assert tracks(remux(data, nothing)) == tracks(data)


def test_webm_stays_webm(small_clips: dict[str, Clip]) -> None:
    assert b"webm" in remux(read_bytes(small_clips["webm"]), nothing)[:64]
    assert b"matroska" in remux(read_bytes(small_clips["mkv"]), nothing)[:64]


def test_a_video_needs_a_packet(mp4: Clip) -> None:
    with pytest.raises(DamageError, match="no video packet is left in the file; drop fewer"):
        remux(read_bytes(mp4), list.clear)


def wav() -> bytes:
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="wav") as output:
        stream = output.add_stream("pcm_s16le", rate=8000, layout="mono")
        frame = av.AudioFrame(format="s16", layout="mono", samples=800)
        frame.sample_rate = 8000
        output.mux(stream.encode(frame))
    return buffer.getvalue()


def test_files_that_cannot_be_muxed_again_are_refused_in_one_line() -> None:
    with pytest.raises(DamageError, match="a wav file cannot be muxed again by packets; use an operator on bytes"):
        remux(wav(), nothing)
    with pytest.raises(DamageError) as caught:
        remux(b"no video at all" * 100, nothing)
    assert str(caught.value) == "the file cannot be muxed again (InvalidDataError); use an operator on bytes"


def test_can_remux_tells_without_raising(mp4: Clip) -> None:
    assert can_remux(read_bytes(mp4))
    assert not can_remux(b"no video at all")


def test_a_real_file_whose_times_cannot_be_muxed_is_refused(real_clips: Path) -> None:
    assert not can_remux((real_clips / "h264-bframes-negative-step.avi").read_bytes())
    assert can_remux((real_clips / "h264-two-video-two-audio.mp4").read_bytes())
