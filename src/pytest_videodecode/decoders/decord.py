"""decord's ``VideoReader`` (the maintained decord2), a fresh one for each request."""

from __future__ import annotations

from collections.abc import Mapping

import decord
import numpy as np
from numpy.typing import NDArray

from pytest_videodecode.decoders.base import LoadedDecoder
from pytest_videodecode.decoders.normalise import to_frames
from pytest_videodecode.decoders.options import refuse_unknown
from pytest_videodecode.decoders.pick import nearest
from pytest_videodecode.decoders.versions import loaded_versions
from pytest_videodecode.model import DecodeRequest, DecoderInfo


def make(options: Mapping[str, str]) -> LoadedDecoder:
    """Without a thread count decord takes FFmpeg's automatic one."""
    refuse_unknown("decord", options, ())
    info = DecoderInfo(name="decord", threads_by="parameter num_threads", versions=loaded_versions())
    return LoadedDecoder(info=info, run=decode)


def decode(request: DecodeRequest) -> NDArray[np.uint8]:
    """The frames asked for; a timestamp takes the frame whose start is nearest."""
    reader = decord.VideoReader(request.path, ctx=decord.cpu(0), num_threads=request.threads or 0)
    if request.indices is not None:
        return to_frames(reader.get_batch(list(request.indices)))
    starts = reader.get_frame_timestamp(range(len(reader)))[:, 0]
    return to_frames(reader.get_batch(nearest(starts, request)))
