"""torchcodec's ``VideoDecoder``, a fresh one for each request; option ``seek_mode`` (exact, approximate)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_videodecode.decoders.base import LoadedDecoder, open_source
from pytest_videodecode.decoders.normalise import to_frames
from pytest_videodecode.decoders.options import choice, refuse_unknown
from pytest_videodecode.decoders.pick import nearest
from pytest_videodecode.decoders.versions import loaded_versions
from pytest_videodecode.errors import Unsupported
from pytest_videodecode.model import DecodeRequest, DecoderInfo


def make(options: Mapping[str, str]) -> LoadedDecoder:
    """Without a thread count torchcodec decodes in one thread, its own default."""
    refuse_unknown("torchcodec", options, ("seek_mode",))
    seek_mode = choice("seek_mode", options.get("seek_mode", "exact"), ("exact", "approximate"))
    try:
        from torchcodec.decoders import VideoDecoder
    except (RuntimeError, OSError) as error:  # its way of saying that FFmpeg's shared libraries are not found
        raise Unsupported(
            f"torchcodec finds no FFmpeg it can load ({str(error).partition('. ')[0]}); "
            "install FFmpeg's shared libraries, or put them on LD_LIBRARY_PATH"
        ) from error

    def decode(request: DecodeRequest) -> NDArray[np.uint8]:
        threads = {} if request.threads is None else {"num_ffmpeg_threads": request.threads}
        with open_source(request) as source:
            decoder = VideoDecoder(
                source, dimension_order="NHWC", device=request.device, seek_mode=seek_mode, **threads
            )
            if request.indices is not None:
                return to_frames(decoder.get_frames_at(list(request.indices)))
            return _at_times(decoder, request)

    info = DecoderInfo(
        name="torchcodec",
        threads_by="parameter num_ffmpeg_threads",
        opens_as=("path", "file"),
        versions=loaded_versions(),
    )
    return LoadedDecoder(info=info, run=decode, devices=("cpu", "cuda"))


def _at_times(decoder: Any, request: DecodeRequest) -> NDArray[np.uint8]:
    asked = request.timestamps or ()
    # torchcodec gives the frame on show at a time; a little behind its start that is the frame meant
    behind = min(request.tolerance_s, 0.25 / (decoder.metadata.average_fps or 1000.0))
    batch = decoder.get_frames_played_at([time + behind for time in asked])
    return to_frames(batch.data[nearest(batch.pts_seconds.numpy(), request)])
