"""OpenCV's ``VideoCapture`` on FFmpeg, positioned by ``CAP_PROP_POS_FRAMES`` or ``CAP_PROP_POS_MSEC``.

Where OpenCV cannot read a frame it says so only by a flag; this decoder then ends, with the frames it has and no
error, as a loop over ``read()`` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import cv2
import numpy as np
from numpy.typing import NDArray

from pytest_videodecode.decoders.base import LoadedDecoder
from pytest_videodecode.decoders.options import refuse_unknown
from pytest_videodecode.decoders.versions import loaded_versions
from pytest_videodecode.model import DecodeRequest, DecoderInfo


def make(options: Mapping[str, str]) -> LoadedDecoder:
    """OpenCV takes neither a tolerance nor a log level, and turns no picture here."""
    refuse_unknown("opencv", options, ())
    info = DecoderInfo(name="opencv", threads_by="CAP_PROP_N_THREADS", stops_early=True, versions=loaded_versions())
    return LoadedDecoder(info=info, run=decode)


def decode(request: DecodeRequest) -> Iterator[NDArray[np.uint8]]:
    """The frames asked for, each sought unless it is the next one."""
    parameters = [] if request.threads is None else [cv2.CAP_PROP_N_THREADS, request.threads]
    capture = cv2.VideoCapture(request.path, cv2.CAP_FFMPEG, parameters)
    try:
        if not capture.isOpened():
            raise OSError(f"OpenCV cannot open {request.path}")
        capture.set(cv2.CAP_PROP_ORIENTATION_AUTO, 0)
        by_index = request.indices is not None
        following = 0.0
        for place in ((request.indices if by_index else request.timestamps) or ())[: request.stop_after]:
            if not by_index:
                capture.set(cv2.CAP_PROP_POS_MSEC, place * 1000)
            elif place != following:
                capture.set(cv2.CAP_PROP_POS_FRAMES, place)
            read, picture = capture.read()
            if not read:
                return
            following = place + 1
            yield np.ascontiguousarray(picture[:, :, ::-1])
    finally:
        capture.release()
