"""``decode_video_frames``: chosen frames of a video file as RGB, right on whatever FFmpeg can read.

How it goes, in the modules of ``reading``: a seek finds the keyframe before the first frame asked, by the container's
index or by time, and from there packets are read as far as it takes to know which of them are the frames asked; these
are decoded, and what comes is compared with what the packets said (``passage``). Where that leaves something open, one
pass over all packets says which frames there are (``frame_table``). Where anything does not fit (no times, a failing
or late seek, another number of frames, interlaced fields, a change of size) the file is decoded from its first frame
instead, which is slower and always right.

PyAV's thread type and log level are left as they are: frame threads hide errors of damaged files, and together
with a log callback they can hang for ever when a container is closed.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from functools import partial
from typing import Any

import av
from av.video.frame import VideoFrame

from pytest_videodecode.production.decoder_cache import DecoderCache
from pytest_videodecode.production.errors import DamagedVideoError, VideoReadError, typed
from pytest_videodecode.production.reading.frame_request import (
    Aims,
    IndexRequest,
    TimestampRequest,
    request_of,
)
from pytest_videodecode.production.reading.open_clip import OpenClip
from pytest_videodecode.production.reading.output import FrameBatch, OutputForm
from pytest_videodecode.production.reading.stream_facts import Misfit, time_base_of
from pytest_videodecode.production.reading.video_source import BinaryReader, VideoSource, thread_count, thread_setting

__all__ = ["DecoderCache", "decode_video_frames", "thread_setting"]

Request = IndexRequest | TimestampRequest


def decode_video_frames(
    video_path: str | os.PathLike[str] | BinaryReader,
    timestamps: Iterable[float] | None = None,
    tolerance_s: float = 1e-4,
    *,
    frame_indices: Iterable[int] | None = None,
    decoder_cache: DecoderCache | None = None,
    threads: int | None = None,
    output: str = "numpy",
    layout: str | None = None,
    dtype: str = "uint8",
    out: Any = None,
    device: str = "cpu",
) -> Any:
    """Frames of the first video stream, ``uint8 (N,H,W,3)`` RGB, in the order asked, repeats included.

    Exactly one of ``timestamps`` and ``frame_indices`` is given. A timestamp (s) means the frame whose pts times
    time base is nearest; a stream that starts at 10 s has no frame at 0. A frame index counts the frames that a
    decode from the start shows: frames that an edit list hides do not count, whatever the header says. H and W
    are those that the stream declares; frames of another size are scaled to it.

    ``video_path`` is a path, a URL or a binary file object. A URL whose scheme FFmpeg reads itself (``http``,
    ``rtsp``, …: ``FFMPEG_SCHEMES``) is left to it, any other is opened by fsspec. A file object is read from its start
    and stays open; one without ``seek`` is decoded in one pass. With ``decoder_cache`` a path or URL stays open for
    the next request.

    ``threads`` is the size of libdav1d's thread pool, 0 for FFmpeg's choice; other decoders are left as they are. None
    is what the environment variable ``OPENWAM_VIDEO_DECODE_THREADS``, read at each call, says: 2 if it is unset.

    ``output`` is ``numpy`` or ``torch``; ``layout`` ``NHWC`` (that of numpy where it is None) or ``NCHW`` (that of
    torch), which is a view of memory that lies as NHWC; ``dtype`` ``uint8`` or ``float32``, in [0, 1]. ``out`` is
    memory of exactly that kind, type and shape, of any strides: it is written to and returned. After an error its
    content is undefined. No option costs a second copy.

    Raises:
        VideoReadError: the request, a setting or the source cannot be used, a frame asked is not there, no such
            file, no video file, or damage before the last frame asked; its subclasses in ``production.errors`` say
            which, and those that FFmpeg is the cause of are ``av.FFmpegError`` too. Never fewer frames than asked.
    """
    form = OutputForm.of(output, layout, dtype, out)
    pool = thread_count(threads)
    source = VideoSource(video_path)
    request = request_of(timestamps, tolerance_s, frame_indices, source.name)
    try:
        with _opened(source, pool, device, decoder_cache) as clip:
            answer = _from_keyframe(clip, request, form)
            if answer is not None:
                return answer
            try:
                return _from_start(clip, request, form)
            except DamagedVideoError as error:
                # threads that read ahead may have met the damage before the frames asked came out
                if not (clip.reads_ahead and source.seekable):
                    raise
                _forget(error)
            with closing(source.open(1, device)) as patient:
                return _from_start(patient, request, form)
    except Exception as error:
        _forget(error)
        if isinstance(error, VideoReadError) or not isinstance(error, av.FFmpegError):
            raise
        raise typed(error, f"while reading {request} of {source.name}") from None


def _opened(
    source: VideoSource, threads: int | None, device: str, cache: DecoderCache | None
) -> AbstractContextManager[OpenClip]:
    if cache is not None and source.cacheable:
        return cache.lend(source, threads, device)
    return closing(source.open(threads, device))


def _from_keyframe(clip: OpenClip, request: Request, form: OutputForm) -> Any:
    """The answer by way of seeks, None where that is not sure to be right."""
    for find in (_by_index_or_time, _by_table):
        if clip.facts is None:
            return None
        try:
            if (aims := find(clip, request)) is not None:
                return _read(clip, aims, request, form)
        except (Misfit, av.FFmpegError, OSError):  # a file object's own seek may raise OSError
            if find is _by_table:
                clip.give_up_seeking()
    return None


def _by_index_or_time(clip: OpenClip, request: Request) -> Aims | None:
    return request.targets(clip.facts) if clip.facts else None


def _by_table(clip: OpenClip, request: Request) -> Aims | None:
    table = clip.table()
    return request.targets_of(table) if table else None


def _read(clip: OpenClip, aims: Aims, request: Request, form: OutputForm) -> Any:
    facts = clip.facts
    assert facts is not None
    batch = FrameBatch(request.file, len(request), facts.width, facts.height, form)

    def put(frame: VideoFrame, numbers: Sequence[int]) -> None:
        places = aims[numbers[0]][1] if len(numbers) == 1 else [p for number in numbers for p in aims[number][1]]
        batch.put(frame, places, clip.reformatter)

    clip.read([target for target, _ in aims], put)
    return batch.answer


def _from_start(clip: OpenClip, request: Request, form: OutputForm) -> Any:
    """The answer by decoding from the first frame on."""
    container, stream = clip.from_start()
    context = stream.codec_context
    batch = FrameBatch(request.file, len(request), context.width, context.height, form)
    shown = 0

    def frames() -> Iterator[VideoFrame]:
        nonlocal shown
        for frame in container.decode(stream):
            yield frame
            shown += 1

    try:
        request.find(frames(), time_base_of(stream), partial(batch.put, reformatter=clip.reformatter))
    except av.FFmpegError as error:
        raise typed(
            error, f"while reading {request} of {request.file}, of which {shown} frames could be decoded"
        ) from None
    return batch.answer


def _forget(error: BaseException | None) -> None:
    """Clears the frames of tracebacks, which would keep the stream, and with it the threads of its decoder."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__context__
