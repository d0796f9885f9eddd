"""The peers that are not installed for the tests of this package are asked where they are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.decoders.base import Decoder
from pytest_videodecode.decoders.registry import load
from pytest_videodecode.decoders.spec import parse
from pytest_videodecode.errors import DecoderSpecError, Unsupported
from pytest_videodecode.model import ClipSpec, DecodeRequest


@pytest.fixture(params=["torchcodec", "decord", "opencv"])
def peer(request: pytest.FixtureRequest) -> Decoder:
    try:
        return load(parse(request.param))
    except Unsupported as error:
        pytest.skip(str(error))


def decode(decoder: Decoder, request: DecodeRequest) -> NDArray[np.uint8]:
    frames = decoder.decode(request)
    return np.stack(list(frames)) if isinstance(frames, Iterator) else frames


def test_frames_are_those_asked_for_whatever_the_thread_count(peer: Decoder, clip_cache: ClipCache) -> None:
    clip = clip_cache.clip(ClipSpec(codec="h264"))
    asked = (37, 38, 5, 5, 47)
    times = tuple(float(clip.times[number]) for number in asked)
    for threads in (None, 1, 4):
        by_index = decode(peer, DecodeRequest(path=clip.path, indices=asked, threads=threads))
        by_time = decode(peer, DecodeRequest(path=clip.path, timestamps=times, threads=threads))
        assert clip.read(by_index, asked) == list(asked)
        assert clip.read(by_time, asked) == list(asked)
        assert by_index.flags.c_contiguous


def test_unknown_options_are_refused(peer: Decoder) -> None:
    with pytest.raises(DecoderSpecError, match=f"{peer.info.name} has no option 'speed'"):
        load(parse(f"{peer.info.name},speed=fast"))
