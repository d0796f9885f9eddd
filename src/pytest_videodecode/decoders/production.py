"""The video reader that ships with this package, reached like any other function under test."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from pytest_videodecode.decoders.base import LoadedDecoder
from pytest_videodecode.decoders.options import choice
from pytest_videodecode.decoders.shapes import adapt
from pytest_videodecode.errors import DecoderSpecError, Unsupported

#: By name only: the reader is a tenant, and in another interpreter it is that interpreter's own.
MODULE = "pytest_videodecode.production.video_io"

THREADS_VARIABLE = "OPENWAM_VIDEO_DECODE_THREADS"

#: Threads of libdav1d's pool per clip that the reader promises where the variable is unset.
THREAD_CAP = 2

#: Arguments that no text can spell.
_OBJECTS = ("decoder_cache", "out")


def make(options: Mapping[str, str]) -> LoadedDecoder:
    """``production.video_io.decode_video_frames`` as a decoder.

    The option ``cache=on`` gives it a ``DecoderCache``, which lives as long as the decoder.
    """
    given = dict(options)
    cached = choice("cache", given.pop("cache", "off"), ("on", "off")) == "on"
    for name in _OBJECTS:
        if name in given:
            raise DecoderSpecError(f"production: the option {name!r} cannot be given as text; for a cache, cache=on")
    module = importlib.import_module(MODULE)
    decoder = adapt(
        _with_cache(module) if cached else module.decode_video_frames,
        "production",
        {**given, "threads_env": THREADS_VARIABLE},
        opens_as=("path", "file", "unseekable"),
    )
    return replace(decoder, info=replace(decoder.info, thread_cap=THREAD_CAP))


def _with_cache(module: Any) -> Callable[..., Any]:
    if not hasattr(module, "DecoderCache"):
        raise Unsupported(
            "production,cache=on: the reader of that interpreter has no DecoderCache; leave cache=on out"
        )
    return partial(module.decode_video_frames, decoder_cache=module.DecoderCache())
