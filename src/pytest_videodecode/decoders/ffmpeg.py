"""FFmpeg's command line, one thread, from the first frame: the reference that is independent of PyAV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from pytest_videodecode.clips import ffmpeg_cli
from pytest_videodecode.decoders.base import LoadedDecoder
from pytest_videodecode.decoders.options import refuse_unknown
from pytest_videodecode.decoders.pick import pick
from pytest_videodecode.model import DecodeRequest, DecoderInfo


def make(options: Mapping[str, str]) -> LoadedDecoder:
    """Needs the binary that ``clips.ffmpeg_cli.find`` finds."""
    refuse_unknown("ffmpeg", options, ())
    versions = {"ffmpeg": ffmpeg_cli.version(ffmpeg_cli.find())}
    return LoadedDecoder(info=DecoderInfo(name="ffmpeg", stops_early=True, versions=versions), run=decode)


def decode(request: DecodeRequest) -> Iterator[NDArray[np.uint8]]:
    """The frames asked for; FFmpeg is ended with the last one needed."""
    with closing(cast("Any", ffmpeg_cli.stream_frames(request.path))) as frames:
        timed = ((None if time is None else float(time), picture) for time, picture in frames)
        yield from pick(timed, request, lambda picture: picture)
