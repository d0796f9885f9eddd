"""A video file with its packets edited: demuxed and muxed again, never decoded, so that the container stays valid."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import av.container
from av.packet import Packet

from pytest_videodecode.damage.containers import mp4_boxes
from pytest_videodecode.damage.mapping import CANNOT_READ, open_bytes
from pytest_videodecode.errors import DamageError

# FFmpeg's muxer for the files that each of its demuxers reads.
_MUXERS = {
    "mov": "mp4",
    "matroska": "matroska",
    "mpegts": "mpegts",
    "avi": "avi",
    "ivf": "ivf",
    "h264": "h264",
    "hevc": "hevc",
    "av1": "obu",
}


@dataclass(slots=True)
class Sample:
    """A packet, and the times (in ticks of its stream; None where it has none) with which it will be muxed."""

    packet: Packet[Any]
    pts: int | None
    dts: int | None
    duration: int | None

    def later(self, ticks: int) -> None:
        """Move both times."""
        self.pts = None if self.pts is None else self.pts + ticks
        self.dts = None if self.dts is None else self.dts + ticks


#: Edits the samples of a video stream, in place.
Edit = Callable[[list[Sample]], None]


def remux(data: bytes, edit: Edit) -> bytes:
    """The file ``data``, with the samples of its first video stream (in order of decoding) as ``edit`` leaves them.

    Audio is kept, other tracks are not; so are times, the place of the index in mp4, and fragmentation (by
    keyframe). Equal input gives equal output. ``data`` must be undamaged: it is demuxed in this process.

    Raises:
        DamageError: FFmpeg cannot demux the file, or cannot mux it again.
    """
    try:
        with open_bytes(data) as source:
            kind = source.format.name.split(",")[0]
            if kind not in _MUXERS or not source.streams.video:
                raise DamageError(f"a {kind} file cannot be muxed again by packets; use an operator on bytes")
            tracks = _tracks(source)
            video = tracks[source.streams.video[0].index]
            edit(video)
            if not video:
                raise DamageError("no video packet is left in the file; drop fewer")
            return _muxed(source, tracks, _MUXERS[kind], data)
    except CANNOT_READ as error:
        raise DamageError(
            f"the file cannot be muxed again ({type(error).__name__}); use an operator on bytes"
        ) from None


@functools.lru_cache(maxsize=8)
def can_remux(data: bytes) -> bool:
    """Whether ``remux`` works on the file ``data``, found out by trying."""
    try:
        remux(data, lambda samples: None)
    except DamageError:
        return False
    return True


def _tracks(source: av.container.InputContainer) -> dict[int, list[Sample]]:
    """The samples of each video and audio stream, by its number."""
    kept = [*source.streams.video, *source.streams.audio]
    tracks: dict[int, list[Sample]] = {stream.index: [] for stream in kept}
    for packet in source.demux(kept):
        if packet.size:
            tracks[packet.stream_index].append(Sample(packet, packet.pts, packet.dts, packet.duration))
    for samples in tracks.values():
        _guess_first_dts(samples)
    return tracks


def _guess_first_dts(samples: list[Sample]) -> None:
    """Matroska stores no dts, and FFmpeg's demuxer guesses none for the first packets; its muxers want them all."""
    known = next((number for number, sample in enumerate(samples) if sample.dts is not None), 0)
    for sample, behind in zip(samples[:known][::-1], samples[1 : known + 1][::-1], strict=True):
        sample.dts = (behind.dts or 0) - (sample.duration or 1)


def _muxed(source: av.container.InputContainer, tracks: dict[int, list[Sample]], muxer: str, data: bytes) -> bytes:
    if muxer == "matroska" and b"webm" in data[:64]:
        muxer = "webm"
    with tempfile.TemporaryDirectory(prefix="videodecode-") as scratch:
        path = Path(scratch) / "remuxed"  # a path, not a buffer: mp4 is read again to bring its index to the front
        options = _mp4_options(source, data) if muxer == "mp4" else {}
        # else mkv gets a random identity, and every file the version of the muxer
        with av.open(str(path), "w", format=muxer, options={"fflags": "+bitexact", **options}) as output:
            streams = {}
            ticks = {number: source.streams[number].time_base or Fraction(1) for number in tracks}
            for number in tracks:
                template = source.streams[number]
                # opaque: the template's codec is a decoder, which may have no encoder of the same name (libdav1d)
                streams[number] = output.add_stream_from_template(template, opaque=True)
                streams[number].time_base = ticks[number]
            for number, sample in _interleaved(tracks, ticks):
                packet = sample.packet
                packet.stream, packet.time_base = streams[number], ticks[number]
                packet.dts, packet.duration = sample.dts, sample.duration
                packet.pts = sample.dts if muxer == "avi" else sample.pts  # AVI stores no pts, and rejects some
                output.mux(packet)
        return path.read_bytes()


def _interleaved(tracks: dict[int, list[Sample]], ticks: dict[int, Fraction]) -> list[tuple[int, Sample]]:
    timed: list[tuple[Fraction, int, Sample]] = []
    for number, samples in tracks.items():
        time = Fraction(0)
        for sample in samples:
            if sample.dts is not None:
                time = sample.dts * ticks[number]
            timed.append((time, number, sample))
    timed.sort(key=lambda each: each[0])
    return [(number, sample) for _, number, sample in timed]


def _mp4_options(source: av.container.InputContainer, data: bytes) -> dict[str, str]:
    """Options that keep the layout of the mp4 file ``data`` and the ticks of its video."""
    boxes = list(mp4_boxes(data))
    order = [kind for kind, *_ in boxes]
    ticks = source.streams.video[0].time_base
    options = {"video_track_timescale": str(ticks.denominator)} if ticks and ticks.numerator == 1 else {}
    if b"moof" in order:
        # with an edit list, which holds a start, the header must wait for the first packet
        waits = any(b"elst" in data[start:stop] for kind, start, stop in boxes if kind == b"moov")
        options["movflags"] = f"frag_keyframe+default_base_moof+{'delay_moov' if waits else 'empty_moov'}"
    elif b"moov" in order[: order.index(b"mdat") if b"mdat" in order else None]:
        options["movflags"] = "faststart"
    return options
