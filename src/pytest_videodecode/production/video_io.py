"""``decode_video_frames``: chosen frames of a video file as RGB, right on whatever FFmpeg can read.

How it goes: the packets say which frames there are (``frame_table``), a seek finds the keyframe before the first
one asked, and every frame decoded from there is compared with what the packets said. Where anything does not fit
(no times, a failing or late seek, another number of frames, interlaced fields, a change of size) the file is
decoded from its first frame instead, which is slower and always right.

PyAV's thread type and log level are left as they are: frame threads hide errors of damaged files, and together
with a log callback they can hang for ever when a container is closed.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterable, Sequence

import av
import numpy as np
from av.video.frame import VideoFrame
from av.video.reformatter import VideoReformatter
from av.video.stream import VideoStream
from numpy.typing import NDArray

from pytest_videodecode.production.errors import FrameConversionError
from pytest_videodecode.production.frame_request import (
    IndexRequest,
    TimestampRequest,
    places_by_rank,
    request_of,
)
from pytest_videodecode.production.frame_table import Misfit, frames_from, read_frame_table, time_base_of
from pytest_videodecode.production.video_source import PYAV_MAJOR, BinaryReader, VideoSource, thread_setting

__all__ = ["decode_video_frames", "thread_setting"]

# From 17 on PyAV starts a pool of its own for each conversion unless told not to; before, it has no such argument.
_ONE_THREAD = {"threads": 1} if PYAV_MAJOR >= 17 else {}


def decode_video_frames(
    video_path: str | os.PathLike[str] | BinaryReader,
    timestamps: Iterable[float] | None = None,
    tolerance_s: float = 1e-4,
    *,
    frame_indices: Iterable[int] | None = None,
) -> NDArray[np.uint8]:
    """Frames of the first video stream, ``uint8 (N,H,W,3)`` RGB, in the order asked, repeats included.

    Exactly one of ``timestamps`` and ``frame_indices`` is given. A timestamp (s) means the frame whose pts times
    time base is nearest; a stream that starts at 10 s has no frame at 0. A frame index counts the frames that a
    decode from the start shows: frames that an edit list hides do not count, whatever the header says. H and W
    are those that the stream declares; frames of another size are scaled to it.

    ``video_path`` is a path or a binary file object; the latter is read from its start and stays open; one without
    ``seek`` is decoded in one pass. The environment variable ``OPENWAM_VIDEO_DECODE_THREADS``, read at each call,
    sets the size of libdav1d's thread pool: 2 by default, 0 for FFmpeg's choice.

    Raises:
        VideoReadError: the request, the environment variable or the source cannot be used, or a frame asked is
            not there; its subclasses in ``production.errors`` say which. Never fewer frames than asked.
        av.FFmpegError: no such file, no video file, or damage before the last frame asked, or so soon behind it that
            a decoder's threads have read ahead into it (a few frames; one thread reads none).
    """
    threads = thread_setting(os.environ)
    source = VideoSource(video_path)
    request = request_of(timestamps, tolerance_s, frame_indices, source.name)
    try:
        if source.seekable and (frames := _from_keyframe(source, request, threads)) is not None:
            return frames
        return _from_start(source, request, threads)
    except Exception as error:
        # The frames of the traceback would keep the stream, and with it the threads of its decoder.
        traceback.clear_frames(error.__traceback__)
        if isinstance(error, av.FFmpegError):
            error.add_note(f"while reading {len(request)} frame(s) of {source.name}")
        raise


def _from_keyframe(
    source: VideoSource, request: IndexRequest | TimestampRequest, threads: int | None
) -> NDArray[np.uint8] | None:
    """The answer by way of a seek, None where that is not sure to be right."""
    try:
        with source.open(threads) as (container, stream):
            table = read_frame_table(container, stream)
            ranks = request.ranks(table) if table else None
            if table is None or ranks is None:
                return None
            batch = _Batch(source.name, len(request), stream)
            places = places_by_rank(ranks)
            last = max(ranks)
            for rank, frame in frames_from(container, stream, table, min(ranks)):
                if not batch.has_size_of(frame):
                    return None
                if rank in places:
                    batch.put(frame, places[rank])
                if rank == last:
                    return batch.frames
    except (Misfit, av.FFmpegError, OSError):  # a file object's own seek may raise OSError
        pass
    return None


def _from_start(
    source: VideoSource, request: IndexRequest | TimestampRequest, threads: int | None
) -> NDArray[np.uint8]:
    with source.open(threads) as (container, stream):
        batch = _Batch(source.name, len(request), stream)
        request.find(container.decode(stream), time_base_of(stream), batch.put)
        return batch.frames


class _Batch:
    """The answer as it fills: converts frames with one converter, whose only thread is the caller's."""

    def __init__(self, file: str, count: int, stream: VideoStream) -> None:
        self._file = file
        self._count = count
        self._width = stream.codec_context.width
        self._height = stream.codec_context.height
        self._reformatter = VideoReformatter()
        self.frames: NDArray[np.uint8] = np.empty((0, 0, 0, 3), np.uint8)

    def has_size_of(self, frame: VideoFrame) -> bool:
        return (frame.width, frame.height) == (self._width, self._height)

    def put(self, frame: VideoFrame, places: Sequence[int]) -> None:
        """Converts ``frame`` once and writes it to each of ``places``."""
        if not len(self.frames):
            self._width, self._height = self._width or frame.width, self._height or frame.height
            self.frames = np.empty((self._count, self._height, self._width, 3), np.uint8)
        try:
            picture = self._reformatter.reformat(
                frame, width=self._width, height=self._height, format="rgb24", **_ONE_THREAD
            ).to_ndarray()
        except (av.FFmpegError, OSError, ValueError) as error:
            raise FrameConversionError(
                f"FFmpeg cannot convert the frame at pts {frame.pts} of {self._file} ({frame.format.name}, colour "
                f"matrix {int(frame.colorspace)}) to RGB: {error}"
            ) from None
        self.frames[list(places)] = picture
