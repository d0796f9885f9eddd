"""Plain PyAV: one sequential decode from the first frame. The measure of what PyAV itself does with a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

import av
import av.container
import numpy as np
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray

from pytest_videodecode.decoders.base import LoadedDecoder, open_source
from pytest_videodecode.decoders.options import choice, refuse_unknown
from pytest_videodecode.decoders.pick import pick
from pytest_videodecode.decoders.pyav_log import LOG_LEVELS, log_level
from pytest_videodecode.decoders.versions import loaded_versions
from pytest_videodecode.model import DecodeRequest, DecoderInfo

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.frame import VideoFrame

THREAD_TYPES = ("NONE", "SLICE", "FRAME", "AUTO")


def make(options: Mapping[str, str]) -> LoadedDecoder:
    """Options ``thread_type`` and ``log_level`` hold for requests that leave them None."""
    known = {"thread_type": THREAD_TYPES, "log_level": LOG_LEVELS}
    refuse_unknown("pyav", options, known)
    return LoadedDecoder(
        info=DecoderInfo(
            name="pyav",
            threads_by="CodecContext.thread_count",
            thread_types=THREAD_TYPES,
            opens_as=("path", "file", "unseekable"),
            log_levels=True,
            stops_early=True,
            versions=loaded_versions(),
        ),
        run=decode,
        defaults={name: choice(name, value, known[name]) for name, value in options.items() if name in known},
    )


def decode(request: DecodeRequest) -> Iterator[NDArray[np.uint8]]:
    """The frames asked for, decoding from the first one and no further than the last one needed."""
    # in this order the decoder is closed while the log level is still set
    with log_level(request.log_level), open_source(request) as source, av.open(source) as container:
        yield from pick(_frames(container, request), request, RgbConverter())


def _frames(container: InputContainer, request: DecodeRequest) -> Iterator[tuple[float | None, VideoFrame]]:
    stream = container.streams.video[0]
    if request.threads is not None:
        stream.codec_context.thread_count = request.threads
    if request.thread_type is not None:
        stream.codec_context.thread_type = request.thread_type
    for frame in container.decode(stream):  # flushes at the end of the file
        yield _seconds(frame), frame


def _seconds(frame: VideoFrame) -> float | None:
    if frame.pts is None or frame.time_base is None:
        return None
    return float(frame.pts * frame.time_base)  # exact up to here, unlike frame.time


class RgbConverter:
    """Frames to RGB pictures of the first one's size, without threads.

    From PyAV 17 on, ``frame.to_ndarray(format="rgb24")`` builds a swscale context with a thread per core for
    every frame; one shared reformatter held to one thread starts none. Before 17 there were no such threads.
    """

    def __init__(self) -> None:
        reformat = VideoReformatter().reformat
        has_pool = int(av.__version__.split(".")[0]) >= 17
        self._reformat = partial(reformat, threads=1) if has_pool else reformat
        self._size: tuple[int, int] | None = None

    def __call__(self, frame: VideoFrame) -> NDArray[np.uint8]:
        """``frame`` as ``uint8 (H,W,3)``."""
        width, height = self._size = self._size or (frame.width, frame.height)
        return np.asarray(self._reformat(frame, width, height, "rgb24").to_ndarray(), np.uint8)
