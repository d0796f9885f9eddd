"""The video reader that ships with this package, reached like any other function under test."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import replace

from pytest_videodecode.decoders.base import LoadedDecoder
from pytest_videodecode.decoders.shapes import adapt

#: By name only: the reader is a tenant, and in another interpreter it is that interpreter's own.
MODULE = "pytest_videodecode.production.video_io"

THREADS_VARIABLE = "OPENWAM_VIDEO_DECODE_THREADS"

#: Threads of libdav1d's pool per clip that the reader promises where the variable is unset.
THREAD_CAP = 2


def make(options: Mapping[str, str]) -> LoadedDecoder:
    """``production.video_io.decode_video_frames`` as a decoder."""
    decoder = adapt(
        importlib.import_module(MODULE).decode_video_frames,
        "production",
        {**options, "threads_env": THREADS_VARIABLE},
        opens_as=("path", "file", "unseekable"),
    )
    return replace(decoder, info=replace(decoder.info, thread_cap=THREAD_CAP))
