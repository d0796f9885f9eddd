from __future__ import annotations

import http.server
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_videodecode.model import Clip
from pytest_videodecode.production.decoder_cache import DecoderCache
from pytest_videodecode.production.errors import (
    ThreadSettingError,
    VideoNotFoundError,
    VideoReadError,
    VideoSourceError,
)
from pytest_videodecode.production.reading.video_source import VideoSource
from pytest_videodecode.production.video_io import decode_video_frames

ASKED = [3, 9, 40]


@pytest.fixture
def in_memory(av1: Clip) -> Iterator[str]:
    """The URL of a clip in fsspec's memory file system."""
    memory = pytest.importorskip("fsspec").filesystem("memory")
    memory.pipe("/videodecode/clip.mp4", Path(av1.path).read_bytes())
    yield "memory://videodecode/clip.mp4"
    memory.rm("/videodecode", recursive=True)


def test_a_url_of_fsspec_is_read_by_fsspec(av1: Clip, in_memory: str) -> None:
    assert av1.read(decode_video_frames(in_memory, frame_indices=ASKED), ASKED) == ASKED
    times = [float(av1.times[number]) for number in ASKED]
    assert av1.read(decode_video_frames(in_memory, times), ASKED) == ASKED


def test_chained_urls_are_fsspecs_too(av1: Clip, in_memory: str, tmp_path: Path) -> None:
    chained = f"simplecache::{in_memory}"
    assert VideoSource(chained).cacheable
    assert av1.read(decode_video_frames(chained, frame_indices=ASKED), ASKED) == ASKED


def test_a_url_is_kept_open_and_its_file_closed_with_it(av1: Clip) -> None:
    pytest.importorskip("fsspec")
    url = f"local://{av1.path}"
    with DecoderCache() as cache:
        for _ in range(3):
            frames = decode_video_frames(url, frame_indices=ASKED, decoder_cache=cache)
        assert (cache.statistics.hits, cache.statistics.misses) == (2, 1)
        with cache.lend(VideoSource(url), 2, "cpu") as clip:
            assert clip._opened is not None
            file = clip._opened.file
            assert not file.closed
    assert file.closed
    assert av1.read(frames, ASKED) == ASKED


def test_a_url_of_nothing_is_the_same_error_as_a_path_of_nothing(in_memory: str) -> None:
    with pytest.raises(VideoNotFoundError, match=r"memory://videodecode/absent\.mp4") as caught:
        decode_video_frames("memory://videodecode/absent.mp4", frame_indices=[0])
    assert isinstance(caught.value, FileNotFoundError)


def test_a_scheme_that_nobody_knows_is_an_error_that_says_so() -> None:
    pytest.importorskip("fsspec")
    with pytest.raises(VideoSourceError, match=r"fsspec cannot open nosuch://clip\.mp4 .*nosuch"):
        decode_video_frames("nosuch://clip.mp4", frame_indices=[0])


def test_a_url_without_fsspec_is_an_error_that_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(VideoSourceError, match="pip install fsspec"):
        decode_video_frames("memory://clip.mp4", frame_indices=[0])


class _Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments: Any) -> None:
        """Says nothing."""


def test_http_is_left_to_ffmpeg(av1: Clip, tmp_path: Path) -> None:
    (tmp_path / "clip.mp4").write_bytes(Path(av1.path).read_bytes())
    handler = partial(_Silent, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            url = f"http://127.0.0.1:{server.server_port}/clip.mp4"
            assert VideoSource(url).cacheable
            np.testing.assert_array_equal(
                decode_video_frames(url, frame_indices=ASKED), decode_video_frames(av1.path, frame_indices=ASKED)
            )
            with pytest.raises(VideoReadError):
                decode_video_frames(f"{url}.absent", frame_indices=[0])
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("threads", [-1, 257, 1.5, True, "2"])
def test_a_thread_count_that_is_none_is_an_error(av1: Clip, threads: Any) -> None:
    with pytest.raises(ThreadSettingError, match=r"threads is .*; give a whole number from 0 .* to 256"):
        decode_video_frames(av1.path, frame_indices=[0], threads=threads)


def test_a_thread_count_given_counts_more_than_the_variable(av1: Clip, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENWAM_VIDEO_DECODE_THREADS", "nonsense")
    assert av1.read(decode_video_frames(av1.path, frame_indices=[5], threads=1), [5]) == [5]


def test_a_name_with_a_null_byte_is_an_error_of_the_reader() -> None:
    with pytest.raises((VideoReadError, ValueError)):
        decode_video_frames("clip\0.mp4", frame_indices=[0])
