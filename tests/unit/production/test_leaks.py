"""Nothing stays behind: files, threads and memory after a thousand requests of every kind."""

from __future__ import annotations

import contextlib
import gc
import io
import math
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import av
import pytest

from pytest_videodecode.production.decoder_cache import DecoderCache
from pytest_videodecode.production.errors import VideoReadError
from pytest_videodecode.production.video_io import decode_video_frames

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="counts threads, files and memory in /proc")

REPEATS = 1000

#: What a leak of as little as a kilobyte a request would exceed.
ROOM_BYTES = 6 << 20


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A tiny clip, and what is none."""
    folder = tmp_path_factory.mktemp("tiny")
    whole, cut, sound, text = (folder / name for name in ("whole.mp4", "cut.mp4", "sound.wav", "text.mp4"))
    with av.open(str(whole), "w", options={"movflags": "faststart"}) as container:
        stream = container.add_stream("libx264", rate=30, options={"g": "3"})
        stream.width, stream.height, stream.pix_fmt = 32, 32, "yuv420p"
        stream.codec_context.thread_count = 1
        for _ in range(5):
            container.mux(stream.encode(av.VideoFrame(32, 32, "yuv420p")))
        container.mux(stream.encode())
    cut.write_bytes(whole.read_bytes()[:-30])
    with av.open(str(sound), "w") as container:
        track = container.add_stream("pcm_s16le", rate=8000, layout="mono")
        silence = av.AudioFrame(format="s16", layout="mono", samples=800)
        silence.planes[0].update(bytes(1600))
        silence.sample_rate = 8000
        container.mux(track.encode(silence))
    text.write_text("no video in here\n" * 100)
    return {"whole": whole, "cut": cut, "sound": sound, "text": text, "absent": folder / "absent.mp4"}


@pytest.fixture(params=["uncached", "cached"])
def cache(request: pytest.FixtureRequest) -> Iterator[DecoderCache | None]:
    with DecoderCache(max_size=2) as cache:
        yield cache if request.param == "cached" else None


def _held() -> tuple[int, int]:
    return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))


def _memory() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


REQUESTS: dict[str, Callable[[dict[str, Path]], tuple[Any, dict[str, Any]]]] = {
    "frames": lambda files: (files["whole"], {"frame_indices": [1, 4]}),
    "frames of a file object": lambda files: (io.BytesIO(files["whole"].read_bytes()), {"frame_indices": [1, 4]}),
    "absent": lambda files: (files["absent"], {"frame_indices": [0]}),
    "no video": lambda files: (files["text"], {"frame_indices": [0]}),
    "no video stream": lambda files: (files["sound"], {"frame_indices": [0]}),
    "damage": lambda files: (files["cut"], {"frame_indices": [4]}),
    "nothing asked": lambda files: (files["whole"], {"frame_indices": []}),
    "negative index": lambda files: (files["whole"], {"frame_indices": [-1]}),
    "index too large": lambda files: (files["whole"], {"frame_indices": [5]}),
    "time too late": lambda files: (files["whole"], {"timestamps": [99.0]}),
    "time that is none": lambda files: (files["whole"], {"timestamps": [math.nan]}),
}


@pytest.mark.parametrize("request_name", REQUESTS)
def test_a_thousand_requests_leave_nothing_behind(
    files: dict[str, Path], cache: DecoderCache | None, request_name: str
) -> None:
    make = REQUESTS[request_name]
    if cache is not None and request_name == "frames of a file object":
        pytest.skip("file objects are not kept")
    fails = not request_name.startswith("frames")

    def ask() -> None:
        video, asked = make(files)
        with contextlib.ExitStack() as expected:
            if fails:
                expected.enter_context(pytest.raises(VideoReadError))
            decode_video_frames(video, decoder_cache=cache, **asked)

    for _ in range(30):
        ask()
    gc.collect()
    gc.disable()
    try:
        held, memory = _held(), _memory()
        for _ in range(REPEATS):
            ask()
        for _ in range(100_000):  # a joined thread stays in the list for a moment
            if _held() == held:
                break
            os.sched_yield()
        assert _held() == held
        assert _memory() - memory < ROOM_BYTES
    finally:
        gc.enable()
