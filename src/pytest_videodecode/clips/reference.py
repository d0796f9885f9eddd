"""The truth about a real file: what FFmpeg's command line, independent of every decoder under test, makes of it.

Its pictures are those of PyAV bit for bit for 22 of 24 real files tried (BT.2020 differs by up to 5 levels), so a
frame is known by a digest of its pixels first, and else by a signature: what it looks like on a coarse grid.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pytest_videodecode.clips import ffmpeg_cli
from pytest_videodecode.clips.truth import Truth, in_order
from pytest_videodecode.errors import ClipError

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.stream import VideoStream

MAX_FRAMES = 20_000
GRID = 16


def look(path: Path) -> Truth:
    """The truth about the first video stream of ``path``; one frame is held at a time.

    Raises:
        ClipError: no video, or more than ``MAX_FRAMES`` frames.
        Unsupported: there is no FFmpeg command line.
    """
    headers = _headers(path)
    report = ffmpeg_cli.StreamReport()
    times: list[Fraction | None] = []
    digests: list[str] = []
    signatures: list[str] = []
    fault = ""
    try:
        for time, pixels in ffmpeg_cli.stream_frames(path, report=report):
            if len(times) == MAX_FRAMES:
                raise ClipError(f"{path}: more than {MAX_FRAMES} frames; cut the file into shorter ones")
            if not times:
                headers = replace(headers, width=pixels.shape[1], height=pixels.shape[0])
            times.append(time)
            digests.append(digest(pixels))
            signatures.append(base64.b85encode(signature(pixels[None]).tobytes()).decode())
    except ffmpeg_cli.FfmpegFailed as error:
        fault = str(error)
    if report.complaints and not fault:
        fault = report.complaints[0]
    if not times and not fault:
        fault = "FFmpeg's command line finds no frame, and no fault either"
    # A container without presentation times has some worked out by each reader of it; FFmpeg's command line guesses
    # later ones (by a frame or more in AVI) than the packets bear that every other decoder is handed.
    own_times: Sequence[Fraction | None] = headers.packet_times if len(headers.packet_times) == len(times) else times
    return Truth(
        codec=headers.codec,
        container=headers.container,
        width=headers.width,
        height=headers.height,
        times=in_order(own_times, headers.rate),
        keyframes=tuple(report.keyframes),
        intact=not fault,
        fault=fault,
        digests=tuple(digests),
        signatures=tuple(signatures),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Headers:
    """What the container says; ``packet_times`` are those of the packets to be shown, if each of them has one."""

    codec: str
    container: str
    width: int
    height: int
    rate: Fraction | None
    packet_times: list[Fraction]


def _headers(path: Path) -> _Headers:
    import av

    try:
        # Tags may be in any encoding; before PyAV 19, which has no such option, reading them strictly raises.
        lenient: dict[str, Any] = {} if int(av.__version__.split(".")[0]) >= 19 else {"metadata_errors": "replace"}
        with av.open(str(path), **lenient) as container:
            if container.format.name == "tty":  # FFmpeg renders any text as a terminal would show it
                raise ClipError(f"{path}: a text, not a video; give a video file")
            if not container.streams.video:
                raise ClipError(f"{path}: holds no video stream; give a video file")
            stream = container.streams.video[0]
            return _Headers(
                codec=stream.codec_context.codec.canonical_name,
                container=container.format.name,
                width=stream.width,
                height=stream.height,
                rate=stream.average_rate,
                packet_times=_packet_times(container, stream),
            )
    except (av.FFmpegError, ValueError) as error:
        raise ClipError(f"{path}: not a video that FFmpeg can open ({error}); give a video file") from None


def _packet_times(container: InputContainer, stream: VideoStream) -> list[Fraction]:
    import av

    times: list[Fraction] = []
    try:
        for packet in container.demux(stream):
            if packet.size and not packet.is_discard:
                if packet.pts is None or len(times) > MAX_FRAMES:
                    return []
                times.append(packet.pts * packet.time_base)
    except av.FFmpegError:
        return []
    return times


def digest(picture: NDArray[np.uint8]) -> str:
    """The digest of one picture ``uint8 (H,W,3)``: its size and every pixel."""
    size = "x".join(map(str, picture.shape)).encode()
    return hashlib.blake2b(np.ascontiguousarray(picture).data, digest_size=16, person=size[:16]).hexdigest()


def signature(pictures: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """What each of ``pictures`` (N,H,W,3) looks like at ``GRID`` x ``GRID``: mean grey levels, ``uint8 (N,GRID²)``."""
    count, height, width = pictures.shape[:3]
    rows = np.arange(GRID) * height // GRID
    columns = np.arange(GRID) * width // GRID
    row_sizes = np.maximum(np.diff([*rows, height]), 1)
    column_sizes = np.maximum(np.diff([*columns, width]), 1)
    cells = np.empty((count, GRID, GRID))
    for cell, picture in zip(cells, pictures, strict=True):
        sums = np.add.reduceat(picture.sum(axis=2, dtype=np.uint32), rows, axis=0)
        cell[:] = np.add.reduceat(sums, columns, axis=1)
    cells /= 3.0 * row_sizes[:, None] * column_sizes
    return np.rint(cells).astype(np.uint8).reshape(count, GRID * GRID)
