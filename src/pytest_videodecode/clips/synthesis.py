"""Spec → file, by PyAV's encoders or, where PyAV lacks one, by FFmpeg's command line.

Runs in a process of its own (``clips.make``), because encoders start threads, and write to standard error whatever
the log level: SVT-AV1 heeds only an environment variable, which must be set before its first encoder is opened.
"""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import av.container
import numpy as np
from av.audio.stream import AudioStream
from av.packet import Packet
from av.video.frame import PictureType
from av.video.stream import VideoStream

from pytest_videodecode.clips import ffmpeg_cli
from pytest_videodecode.clips.encoders import ENCODERS, Encoder, options
from pytest_videodecode.clips.pictures import pictures
from pytest_videodecode.clips.rules import CONTAINERS
from pytest_videodecode.clips.timing import frame_time, tick
from pytest_videodecode.errors import Unsupported
from pytest_videodecode.model import ClipSpec

_LEAST_TIMESCALE = 10_000
_AUDIO_RATE = 48000
_AUDIO_HZ = 440
_AUDIO_LEVEL = 0.02


def write(spec: ClipSpec, path: Path) -> None:
    """Make the file of ``spec`` (which must be usable) at ``path``.

    Raises:
        Unsupported: neither PyAV nor FFmpeg's command line has an encoder for the codec and pixel format, or PyAV
            has none for the audio track.
    """
    encoder = pyav_encoder(spec)
    container = CONTAINERS[spec.container]
    with tempfile.TemporaryDirectory(prefix="videodecode-") as scratch:
        # As in the container it is for, the codec's headers stand before all packets (mp4) or within them (ts).
        encoded = Path(scratch) / ("encoded.ts" if spec.container in ("ts", "avi") else "encoded.mp4")
        if encoder is None:
            _encode_outside(spec, encoded)
        with av.open(str(path), "w", format=container.format, options=_muxer_options(spec)) as output:
            packets = _encode(output, encoder, spec) if encoder else _copy(output, encoded, spec)
            tracks: list[Iterator[Packet[Any]]] = [(_retimed(packet, spec) for packet in packets)]
            if spec.audio:
                tracks.append(_audio(output, container.audio, spec))
            for packet in heapq.merge(*tracks, key=_decoding_time):
                output.mux(packet)


def pyav_encoder(spec: ClipSpec) -> Encoder | None:
    """The first encoder for ``spec`` that PyAV carries."""
    for encoder in ENCODERS[spec.codec]:
        if encoder.name in av.codecs_available:
            formats = av.Codec(encoder.name, "w").video_formats
            if formats is None or spec.pix_fmt in [each.name for each in formats]:
                return encoder
    return None


def _muxer_options(spec: ClipSpec) -> dict[str, str]:
    exact = {"fflags": "+bitexact"}  # without it, Matroska gives every file a random id
    if spec.container != "mp4":
        return exact
    # Left alone, mp4 rounds a start to milliseconds and a quarter frame to the frame rate's own ticks.
    scale = tick(spec).denominator
    while scale < _LEAST_TIMESCALE:
        scale *= 2
    scales = {"movie_timescale": str(scale), "video_track_timescale": str(scale)}
    if spec.fragmented:
        # An edit list, which is what holds a start, needs the header to wait for the first packet.
        header = "delay_moov" if spec.start else "empty_moov"
        return {"movflags": f"frag_keyframe+default_base_moof+{header}", **scales, **exact}
    return {"movflags": "faststart", **scales, **exact} if spec.faststart else {**scales, **exact}


def _encode(output: av.container.OutputContainer, encoder: Encoder, spec: ClipSpec) -> Iterator[Packet[Any]]:
    """Packets of a new video stream of ``output``; their times count frames."""
    stream = output.add_stream(encoder.name, rate=spec.rate, options=options(encoder, spec))
    assert isinstance(stream, VideoStream)
    stream.width, stream.height, stream.pix_fmt = spec.width, spec.height, spec.pix_fmt
    stream.codec_context.time_base = 1 / spec.rate

    def packets() -> Iterator[Packet[Any]]:
        for number, picture in enumerate(pictures(spec)):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24").reformat(format=spec.pix_fmt)
            frame.pts, frame.time_base = number, 1 / spec.rate
            if encoder.force_keyframes:
                frame.pict_type = PictureType.I if number % spec.gop == 0 else PictureType.NONE
            yield from stream.encode(frame)
        yield from stream.encode(None)

    return packets()


def _encode_outside(spec: ClipSpec, path: Path) -> None:
    faults = []
    for encoder in ENCODERS[spec.codec]:
        try:
            ffmpeg_cli.encode(
                path,
                pictures(spec),
                width=spec.width,
                height=spec.height,
                rate=spec.rate,
                pix_fmt=spec.pix_fmt,
                encoder=encoder.name,
                options=options(encoder, spec),
                keyframe_every=spec.gop if encoder.force_keyframes else None,
            )
        except (Unsupported, ffmpeg_cli.FfmpegFailed) as fault:
            faults.append(f"{encoder.name}: {fault}")
        else:
            return
    looked_for = ", ".join(encoder.name for encoder in ENCODERS[spec.codec])
    raise Unsupported(
        f"no encoder for {spec.codec} in {spec.pix_fmt} here; looked for {looked_for} in PyAV {av.__version__}, "
        f"then on FFmpeg's command line ({'; '.join(faults)}); install a PyAV wheel from PyPI, which carries them"
    )


def _copy(output: av.container.OutputContainer, encoded: Path, spec: ClipSpec) -> Iterator[Packet[Any]]:
    """Packets of the file ``encoded`` in a new stream of ``output``; their times count frames."""
    source = av.open(str(encoded))
    template = source.streams.video[0]
    stream = output.add_stream_from_template(template, opaque=True)
    stream.time_base = tick(spec)

    def packets() -> Iterator[Packet[Any]]:
        first: int | None = None
        with source:
            for packet in source.demux(template):
                if packet.size and packet.pts is not None and packet.dts is not None:
                    first = packet.pts if first is None else first
                    per_tick = packet.time_base * spec.rate
                    packet.pts, packet.dts = (round((time - first) * per_tick) for time in (packet.pts, packet.dts))
                    packet.time_base = 1 / spec.rate
                    packet.stream = stream
                    yield packet

    return packets()


def _retimed(packet: Packet[Any], spec: ClipSpec) -> Packet[Any]:
    """``packet``, whose times count frames, with the times at which ``spec`` shows and decodes these frames."""
    unit = tick(spec)
    per_frame = packet.time_base * spec.rate
    if packet.pts is None or packet.dts is None:
        raise AssertionError("an encoder left a packet without times")
    shown, decoded = round(packet.pts * per_frame), round(packet.dts * per_frame)
    packet.time_base = unit
    packet.pts = int(frame_time(spec, shown) / unit)
    packet.dts = int(frame_time(spec, decoded) / unit)
    packet.duration = int((frame_time(spec, shown + 1) - frame_time(spec, shown)) / unit)
    return packet


def _audio(output: av.container.OutputContainer, encoder: str, spec: ClipSpec) -> Iterator[Packet[Any]]:
    """A quiet tone as long as the video."""
    if encoder not in av.codecs_available:
        raise Unsupported(f"no audio encoder {encoder} in PyAV {av.__version__}; install a PyAV wheel from PyPI")
    stream = output.add_stream(encoder, rate=_AUDIO_RATE, layout="mono")
    assert isinstance(stream, AudioStream)
    start = int(spec.start * _AUDIO_RATE)
    length = int((frame_time(spec, spec.frames) - spec.start) * _AUDIO_RATE)

    def packets() -> Iterator[Packet[Any]]:
        for frame in _tone(stream.format.name, start, length):
            yield from stream.encode(frame)
        yield from stream.encode(None)

    return _not_before(start, packets())


def _tone(sample_format: str, start: int, length: int) -> Iterator[av.AudioFrame]:
    resampler = av.AudioResampler(sample_format, "mono", _AUDIO_RATE)
    block = _AUDIO_RATE // 10
    for first in range(0, length, block):
        at = np.arange(first, min(first + block, length)) / _AUDIO_RATE
        tone = (_AUDIO_LEVEL * np.sin(2 * np.pi * _AUDIO_HZ * at)).astype(np.float32)
        frame = av.AudioFrame.from_ndarray(tone[None, :], format="fltp", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = _AUDIO_RATE, start + first, Fraction(1, _AUDIO_RATE)
        yield from resampler.resample(frame)


def _not_before(start: int, packets: Iterator[Packet[Any]]) -> Iterator[Packet[Any]]:
    """``packets`` later by what an audio encoder primes itself with, lest a muxer shift the video instead."""
    delay: int | None = None
    for packet in packets:
        if packet.pts is not None and packet.dts is not None:
            delay = max(0, start - packet.dts) if delay is None else delay
            packet.pts, packet.dts = packet.pts + delay, packet.dts + delay
        yield packet


def _decoding_time(packet: Packet[Any]) -> Fraction:
    return Fraction(0) if packet.dts is None else packet.dts * packet.time_base
