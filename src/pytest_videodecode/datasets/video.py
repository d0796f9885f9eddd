"""Video files of a data set, encoded in a process of their own: encoders print, start threads, and may crash."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

from pytest_videodecode import jsonform
from pytest_videodecode.clips.store import Store
from pytest_videodecode.clips.truth import Truth
from pytest_videodecode.datasets.spec import VideoFile
from pytest_videodecode.errors import ClipError, Unsupported
from pytest_videodecode.model import ClipSpec

#: Raise this when the same ``VideoFile`` would make another file.
GENERATOR = 2

_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from pytest_videodecode.datasets.video import main; main(sys.argv[2])"
)
_LEAST_LIMIT_S, _PIXELS_PER_S = 120.0, 2e5
_NO_ENCODER = 3


def place(video: VideoFile, target: Path, store: Store | None) -> None:
    """Have the file of ``video`` at ``target``: a copy of the one in ``store`` where there is one.

    Raises:
        ClipError: the encoder has failed or not ended in time, or the store cannot be used.
        Unsupported: PyAV has no encoder for the codec.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if store is None:
        encode(video, target)
        return
    name = f"dataset-{video.codec}-{_digest(video)}.mp4"

    def make(path: Path) -> Truth:
        encode(video, path)
        frames = sum(video.lengths)
        times = tuple(Fraction(number, video.fps) for number in range(frames))
        keyframes = tuple(range(0, frames, video.gop))
        width, height = video.width, video.height
        return Truth(codec=video.codec, container="mp4", width=width, height=height, times=times, keyframes=keyframes)

    store.file(name, make)
    shutil.copyfile(store.root / name, target)


def encode(video: VideoFile, path: Path) -> None:
    """Make the file of ``video`` at ``path``; the errors are those of ``place``."""
    # What can be imported here, and only that, can be imported there.
    folders = json.dumps([folder for folder in sys.path if folder])
    limit_s = _LEAST_LIMIT_S + video.width * video.height * sum(video.lengths) / _PIXELS_PER_S
    with subprocess.Popen(
        [sys.executable, "-P", "-c", _PROGRAM, folders, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "SVT_LOG": "1"},  # SVT-AV1 has no other switch for what it prints
        start_new_session=True,
    ) as process:
        try:
            _, errors = process.communicate(json.dumps(jsonform.to_json(video)).encode(), timeout=limit_s)
        except subprocess.TimeoutExpired:
            raise ClipError(f"{path.name}: not encoded within {limit_s:g} s; use fewer or smaller frames") from None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    last = (errors.decode("utf-8", "replace").strip().splitlines() or ["no message"])[-1]
    if process.returncode == _NO_ENCODER:
        raise Unsupported(last)
    if process.returncode:
        raise ClipError(f"{path.name}: its encoder ended with status {process.returncode} ({last})")


def main(path: str) -> None:
    """The program of the child: a ``VideoFile`` on standard input, the mp4 at ``path``."""
    video = jsonform.loads(VideoFile, sys.stdin.buffer.read(), "video file")
    try:
        _write(video, path)
    except Unsupported as error:
        print(error, file=sys.stderr)
        sys.exit(_NO_ENCODER)


def _write(video: VideoFile, path: str) -> None:
    import av
    from av.video.frame import PictureType
    from av.video.stream import VideoStream

    from pytest_videodecode.clips import encoders, synthesis
    from pytest_videodecode.datasets.pictures import pictures

    spec = ClipSpec(codec=video.codec, width=video.width, height=video.height, gop=video.gop, quality=video.quality)
    encoder = synthesis.pyav_encoder(spec)
    if encoder is None:
        raise Unsupported(f"PyAV {av.__version__} has no encoder for {video.codec}; install a wheel from PyPI")
    muxing = {"movflags": "faststart", "fflags": "+bitexact"}
    with av.open(path, "w", format="mp4", options=muxing) as output:
        stream = output.add_stream(encoder.name, rate=video.fps, options=encoders.options(encoder, spec))
        assert isinstance(stream, VideoStream)
        stream.width, stream.height, stream.pix_fmt = video.width, video.height, spec.pix_fmt
        stream.codec_context.time_base = Fraction(1, video.fps)
        for number, picture in enumerate(pictures(video)):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24").reformat(format=spec.pix_fmt)
            frame.pts, frame.time_base = number, Fraction(1, video.fps)
            if encoder.force_keyframes:
                frame.pict_type = PictureType.I if number % video.gop == 0 else PictureType.NONE
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))


def _digest(video: VideoFile) -> str:
    import av

    libraries = {name: list(numbers) for name, numbers in av.library_versions.items()}
    parts = [jsonform.to_json(video), GENERATOR, av.__version__, libraries]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]
