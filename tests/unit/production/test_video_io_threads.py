from __future__ import annotations

import contextlib
import gc
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from av.video.reformatter import VideoReformatter

from pytest_videodecode.model import Clip
from pytest_videodecode.production.errors import FrameIndexError, ThreadSettingError
from pytest_videodecode.production.reading import open_clip
from pytest_videodecode.production.reading.video_source import THREADS_VARIABLE, VideoSource, thread_setting
from pytest_videodecode.production.video_io import decode_video_frames

WINDOWS = [range(8), range(27, 44, 4)]

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="counts threads and files in /proc")


def threads() -> set[str]:
    return set(os.listdir("/proc/self/task"))


def names(tasks: set[str]) -> list[str]:
    found = []
    for task in tasks:
        with contextlib.suppress(OSError):  # gone meanwhile
            found.append(Path(f"/proc/self/task/{task}/comm").read_text().strip())
    return found


def all_end(before: set[str]) -> bool:
    """Whether no thread is left that was not there before; a joined one stays in the list for a moment."""
    end = time.monotonic() + 10
    while threads() - before:
        if time.monotonic() > end:
            return False
        os.sched_yield()
    return True


@pytest.fixture
def while_converting(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[list[str]]]:
    """The names of the OS threads that were not there before, each time a frame has been converted."""
    before = threads()
    seen: list[list[str]] = []

    class Watching:
        def __init__(self) -> None:
            self._reformatter = VideoReformatter()

        def reformat(self, *arguments: Any, **options: Any) -> av.VideoFrame:
            converted = self._reformatter.reformat(*arguments, **options)
            seen.append(names(threads() - before))
            return converted

    monkeypatch.setattr(open_clip, "VideoReformatter", Watching)
    yield seen
    assert all_end(before)


@pytest.mark.parametrize("frames", WINDOWS, ids=["start", "late"])
def test_no_thread_count_changes_a_frame(clip: Clip, frames: range, monkeypatch: pytest.MonkeyPatch) -> None:
    capped = decode_video_frames(clip.path, frame_indices=frames)
    assert clip.read(capped, frames) == list(frames)
    for count in (0, 1, 2, 4, 100):
        monkeypatch.setenv(THREADS_VARIABLE, str(count))
        np.testing.assert_array_equal(decode_video_frames(clip.path, frame_indices=frames), capped)


@on_linux
@pytest.mark.parametrize(("setting", "workers"), [(None, 2), ("", 2), ("1", 0), ("5", 5)])
def test_libdav1d_has_the_threads_of_the_setting_and_conversion_none(
    av1: Clip,
    while_converting: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
    setting: str | None,
    workers: int,
) -> None:
    if setting is not None:
        monkeypatch.setenv(THREADS_VARIABLE, setting)
    decode_video_frames(av1.path, frame_indices=range(9))
    assert [len(seen) for seen in while_converting] == [workers] * 9
    # a thread has its process's name until it first runs
    assert set(while_converting[-1]) <= {"dav1d-worker", *names({str(os.getpid())})}


@on_linux
@pytest.mark.parametrize("setting", ["", "1", "7"])
def test_h264_has_the_threads_that_pyav_gives_it(
    h264: Clip, while_converting: list[list[str]], monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    monkeypatch.setenv(THREADS_VARIABLE, setting)
    before = threads()
    with av.open(h264.path) as container:
        decoding = container.decode(video=0)
        next(decoding)
        plain = len(threads() - before)
    del decoding, container
    assert all_end(before)
    decode_video_frames(h264.path, frame_indices=range(9))
    assert [len(seen) for seen in while_converting] == [plain] * 9


@pytest.mark.parametrize(("threads", "expected"), [(2, 2), (1, 1), (200, 200), (None, 0)])
def test_only_the_count_of_libdav1d_is_set(clip: Clip, threads: int | None, expected: int) -> None:
    with av.open(clip.path) as container:
        untouched = container.streams.video[0].codec_context.thread_type
    with contextlib.closing(VideoSource(clip.path).open(threads)) as opened:
        context = opened.from_start()[1].codec_context
        assert context.thread_count == (expected if clip.codec == "av1" else 0)
        assert context.thread_type == untouched


@pytest.mark.parametrize(
    ("value", "count"), [("", 2), ("  ", 2), ("\n", 2), ("0", None), ("00", None), ("1", 1), ("007", 7), ("256", 256)]
)
def test_thread_setting_is_read_as_a_count(value: str, count: int | None) -> None:
    assert thread_setting({THREADS_VARIABLE: value}) == count


def test_thread_setting_is_two_where_nothing_is_set() -> None:
    assert thread_setting({}) == 2


@pytest.mark.parametrize("value", ["-1", "+2", "2.0", "two", "257", "1e2", "٣", "²", " 2", "0x2", "9" * 5000, "1_0"])
def test_any_other_thread_setting_is_an_error_that_names_the_variable(
    av1: Clip, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv(THREADS_VARIABLE, value)
    with pytest.raises(ThreadSettingError, match=f"^{THREADS_VARIABLE}=.* whole number from 0 .* to 256") as caught:
        decode_video_frames(av1.path, frame_indices=[0])
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


def test_log_level_is_left_alone(clip: Clip) -> None:
    before = av.logging.get_level()
    decode_video_frames(clip.path, frame_indices=[3])
    assert av.logging.get_level() == before


@on_linux
def test_files_and_threads_are_back_after_every_request(clip: Clip, tmp_path: Path) -> None:
    whole = Path(clip.path).read_bytes()
    damaged = tmp_path / "cut.mp4"
    damaged.write_bytes(whole[: len(whole) // 2])

    def ask() -> None:
        decode_video_frames(clip.path, frame_indices=[1, 20])
        with pytest.raises(FrameIndexError):
            decode_video_frames(clip.path, frame_indices=[clip.frames])
        with pytest.raises((av.FFmpegError, FrameIndexError)):  # MPEG-4 just ends
            decode_video_frames(damaged, frame_indices=[clip.frames - 1])
        with pytest.raises(av.FFmpegError):
            decode_video_frames(tmp_path / "absent.mp4", frame_indices=[0])

    ask()
    files, before = len(os.listdir("/proc/self/fd")), threads()
    gc.disable()
    try:
        for _ in range(20):
            ask()
            assert len(os.listdir("/proc/self/fd")) == files
            assert all_end(before)
    finally:
        gc.enable()


@on_linux
def test_an_error_that_is_kept_keeps_no_threads(av1: Clip) -> None:
    before = threads()
    with pytest.raises(FrameIndexError) as kept:
        decode_video_frames(av1.path, frame_indices=[av1.frames])
    assert all_end(before)
    assert kept.value.frames == av1.frames
