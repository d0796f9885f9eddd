from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import psutil
import pytest

from pytest_videodecode.clips import ffmpeg_cli, marks
from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.clips.catalogue import CATALOGUE
from pytest_videodecode.errors import Unsupported


def test_variable_names_the_binary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", sys.executable)
    assert ffmpeg_cli.find() == sys.executable


def test_variable_that_names_nothing_is_unsupported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", "/no/such/ffmpeg")
    with pytest.raises(Unsupported, match="IMAGEIO_FFMPEG_EXE names '/no/such/ffmpeg', which cannot be run"):
        ffmpeg_cli.find()


def test_path_is_searched_where_imageio_ffmpeg_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IMAGEIO_FFMPEG_EXE", raising=False)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unsupported, match="pip install imageio-ffmpeg"):
        ffmpeg_cli.find()
    binary = tmp_path / "ffmpeg"
    binary.write_text("#!/bin/sh\necho ffmpeg version 7.1 of tests\n")
    binary.chmod(0o755)
    assert ffmpeg_cli.find() == str(binary)
    assert ffmpeg_cli.version(str(binary)) == "7.1"


def test_binary_that_does_not_run_is_unsupported(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="cannot be run"):
        ffmpeg_cli.version(str(tmp_path / "ffmpeg"))


@pytest.mark.parametrize(
    "name", ["av1", "h264-bframes", "h264-variable-rate", "av1-start", "vp9-odd-size", "h264-10bit"]
)
def test_every_frame_comes_once_in_order_with_its_exact_time(name: str, clip_cache: ClipCache) -> None:
    clip = clip_cache.clip(CATALOGUE[name])
    report = ffmpeg_cli.StreamReport()
    times, numbers = [], []
    for time, pixels in ffmpeg_cli.stream_frames(clip.path, report=report):
        assert pixels.shape == (clip.height, clip.width, 3)
        times.append(time)
        numbers += marks.read(pixels[None])
    assert tuple(times) == clip.times
    assert numbers == list(range(clip.frames))
    assert tuple(report.keyframes) == clip.keyframes
    assert not report.complaints


def test_blue_comes_first_on_request(clip_cache: ClipCache) -> None:
    path = clip_cache.clip(CATALOGUE["h264"]).path
    (_, rgb), (_, bgr) = (next(ffmpeg_cli.stream_frames(path, pix_fmt)) for pix_fmt in ("rgb24", "bgr24"))
    assert (rgb == bgr[:, :, ::-1]).all()
    assert (rgb != bgr).any()


def test_closing_early_ends_the_process(
    clip_cache: ClipCache, new_children: Callable[[], list[psutil.Process]]
) -> None:
    frames = ffmpeg_cli.stream_frames(clip_cache.clip(CATALOGUE["h264-long-gop"]).path)
    next(frames)
    children = new_children()
    assert len(children) == 1
    frames.close()  # type: ignore[attr-defined]
    assert not children[0].is_running()


@pytest.mark.parametrize("content", [None, b"", b"no video at all\n" * 50])
def test_file_that_cannot_be_opened_fails_with_one_line(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "clip.mp4"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ffmpeg_cli.FfmpegFailed, match=r"ended with status \d+ after 0 frames: ") as caught:
        next(ffmpeg_cli.stream_frames(path))
    assert "\n" not in str(caught.value)


def test_path_that_looks_like_an_option_or_a_url_is_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clip_cache: ClipCache
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("-y.mp4", "http:x.mp4"):
        (tmp_path / name).write_bytes(Path(clip_cache.clip(CATALOGUE["h264"]).path).read_bytes())
        assert sum(1 for _ in ffmpeg_cli.stream_frames(name)) == 48


def test_frames_keep_their_own_size_where_it_changes(real_clips: Path) -> None:
    frames = ffmpeg_cli.stream_frames(real_clips / "av1-argon-12bit-thread-mismatch.obu")
    sizes = set[tuple[int, ...]]()
    with pytest.raises(ffmpeg_cli.FfmpegFailed):  # a stress vector: a frame has a reserved colour matrix
        sizes.update(pixels.shape for _, pixels in frames)
    assert len(sizes) > 3


def test_rotation_is_not_applied(real_clips: Path) -> None:
    _, first = next(ffmpeg_cli.stream_frames(real_clips / "hevc-10bit-hlg-rotated-edit-list.mp4"))
    assert first.shape == (1080, 1920, 3)


def test_encoder_that_the_binary_lacks_fails_with_its_words(tmp_path: Path) -> None:
    with pytest.raises(ffmpeg_cli.FfmpegFailed, match="no-such-encoder"):
        ffmpeg_cli.encode(
            tmp_path / "clip.mp4",
            [np.zeros((96, 160, 3), np.uint8)] * 50,
            width=160,
            height=96,
            rate=Fraction(30),
            pix_fmt="yuv420p",
            encoder="no-such-encoder",
            options={},
        )
