"""FFmpeg's command line: the independent reference decoder, and the encoder of last resort.

Used in workers too: only the standard library and numpy are imported at module level.
"""

from __future__ import annotations

import functools
import io
import os
import queue
import re
import shutil
import subprocess
import tempfile
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from pytest_videodecode.errors import Unsupported, VideodecodeError

_CHANNELS = {"rgb24": 3, "bgr24": 3}
# Gives PyAV's pictures bit for bit, save for BT.2020 (at most 5 levels off); `interl` follows the frame's own flag.
_SCALER = "scale=flags=bilinear:interl=-1"
_MAX_SIDE = 32768
_MAX_LINE = 400
_COMPLAINTS_KEPT = 20

_TIME_BASE = re.compile(r"config in time_base: (\d+)/(\d+)")
_FRAME = re.compile(r"\bn: *\d+ pts: *(-?\d+|NOPTS) .* s:(\d+)x(\d+) .*\biskey:([01])")
# Frames closer together than the nominal rate make the muxer of our pipe complain of times that it does not write.
_OWN_OUTPUT = "[rawvideo @"
_COMPLAINT = re.compile(r"\[(?:error|fatal|panic)\] ")

_Header = tuple[Fraction | None, int, int, bool]


class FfmpegFailed(VideodecodeError):
    """FFmpeg's command line ended with an error."""


@dataclass
class StreamReport:
    """What ``stream_frames`` learns besides pictures: the numbers of keyframes, and the errors FFmpeg reported."""

    keyframes: list[int] = field(default_factory=list)
    complaints: deque[str] = field(default_factory=lambda: deque(maxlen=_COMPLAINTS_KEPT))


def find() -> str:
    """The path of FFmpeg's binary: ``IMAGEIO_FFMPEG_EXE``, imageio-ffmpeg's own, or ``ffmpeg`` on PATH."""
    if named := os.environ.get("IMAGEIO_FFMPEG_EXE"):
        if shutil.which(named):
            return named
        raise Unsupported(f"IMAGEIO_FFMPEG_EXE names {named!r}, which cannot be run; correct or unset it")
    try:
        import imageio_ffmpeg

        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        if on_path := shutil.which("ffmpeg"):
            return on_path
    raise Unsupported("no FFmpeg command line here; `pip install imageio-ffmpeg` brings one")


@functools.cache
def version(exe: str) -> str:
    """The version of the binary ``exe``, as it prints it."""
    try:
        done = subprocess.run(
            [exe, "-version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise Unsupported(f"FFmpeg's command line {exe!r} cannot be run ({error}); install imageio-ffmpeg") from None
    words = done.stdout.split()
    return words[2] if len(words) > 2 else "unknown"


def stream_frames(
    path: str | Path, pix_fmt: str = "rgb24", report: StreamReport | None = None
) -> Iterator[tuple[Fraction | None, NDArray[np.uint8]]]:
    """Every frame of the first video stream of ``path``, as FFmpeg puts them out, with its time.

    Yields (seconds, exact, or None where unknown; ``uint8 (H,W,3)``). One decoder thread; no frame is dropped or
    repeated and no rotation applied; where the size changes in mid-stream, each frame keeps its own. One frame is
    held at a time. Closing the iterator ends FFmpeg. ``pix_fmt`` is ``rgb24`` or ``bgr24``.

    Raises:
        FfmpegFailed: after the frames that came, where FFmpeg's exit status is not 0.
        Unsupported: there is no FFmpeg command line.
    """
    channels = _CHANNELS[pix_fmt]
    report = report or StreamReport()
    command = [find(), "-hide_banner", "-nostdin", "-nostats", "-loglevel", "level+info"]
    command += ["-threads", "1", "-noautorotate", "-copyts", "-i", f"file:{os.fspath(path)}"]
    command += ["-map", "0:v:0", "-noautoscale", "-fps_mode", "passthrough", "-filter_threads", "1"]
    command += ["-vf", f"{_SCALER},format={pix_fmt},showinfo=checksum=0"]
    command += ["-c:v", "rawvideo", "-f", "rawvideo", "pipe:1"]
    headers: queue.SimpleQueue[_Header | None] = queue.SimpleQueue()
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert isinstance(process.stdout, io.BufferedReader)
        assert process.stderr is not None
        listener = threading.Thread(target=_listen, args=(process.stderr, headers, report.complaints), daemon=True)
        listener.start()
        try:
            number = 0
            while header := headers.get():
                time, width, height, is_key = header
                pixels = np.empty((height, width, channels), np.uint8)
                if process.stdout.readinto(pixels.data.cast("B")) < pixels.nbytes:
                    break
                if is_key:
                    report.keyframes.append(number)
                yield time, pixels
                number += 1
            status = process.wait()
        finally:
            process.kill()
            listener.join()
    if status:
        last = report.complaints[-1] if report.complaints else "no message"
        raise FfmpegFailed(f"FFmpeg's command line ended with status {status} after {number} frames: {last}")


def _listen(log: IO[bytes], headers: queue.SimpleQueue[_Header | None], complaints: deque[str]) -> None:
    """Sort FFmpeg's log into what ``showinfo`` says of each frame and what is an error; then send None."""
    unit: Fraction | None = None
    try:
        for raw in log:
            line = raw.decode("utf-8", "replace").strip()
            if line.startswith("[Parsed_showinfo_"):
                if found := _TIME_BASE.search(line):
                    unit = Fraction(int(found[1]), int(found[2]))
                elif (found := _FRAME.search(line)) and max(int(found[2]), int(found[3])) <= _MAX_SIDE:
                    known = unit is not None and found[1] != "NOPTS"
                    time = int(found[1]) * unit if known and unit is not None else None
                    headers.put((time, int(found[2]), int(found[3]), found[4] == "1"))
            elif _COMPLAINT.search(line) and not line.startswith(_OWN_OUTPUT):
                complaints.append(line[:_MAX_LINE])
    finally:
        headers.put(None)


def encode(
    path: Path,
    pictures: Iterable[NDArray[np.uint8]],
    *,
    width: int,
    height: int,
    rate: Fraction,
    pix_fmt: str,
    encoder: str,
    options: Mapping[str, str],
    keyframe_every: int | None = None,
) -> None:
    """Encode ``pictures``, each ``uint8 (H,W,3)`` RGB, into the file ``path`` by FFmpeg's command line.

    Raises:
        FfmpegFailed: the binary lacks ``encoder``, or the encoder refused.
        Unsupported: there is no FFmpeg command line.
    """
    command = [find(), "-hide_banner", "-nostats", "-loglevel", "error", "-y"]
    command += ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(rate), "-i", "pipe:0"]
    command += ["-pix_fmt", pix_fmt, "-c:v", encoder]
    for name, value in options.items():
        command += [f"-{name}", value]
    if keyframe_every is not None:
        command += ["-force_key_frames", f"expr:not(mod(n,{keyframe_every}))"]
    command.append(f"file:{path}")
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=log,
            env={**os.environ, "SVT_LOG": "1"},
        )
        assert process.stdin is not None
        try:
            with process.stdin as pipe:
                for picture in pictures:
                    pipe.write(np.ascontiguousarray(picture).data)
        except BrokenPipeError:
            pass  # FFmpeg has ended early; its status and log say why
        finally:
            status = process.wait()
        if status:
            log.seek(0)
            lines = log.read(64 * 1024).decode("utf-8", "replace").split("\n")
            first = next((line.strip() for line in lines if line.strip()), "no message")
            raise FfmpegFailed(f"status {status}: {first[:_MAX_LINE]}")
