from __future__ import annotations

import contextlib
import io
import os
import threading
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import av
import numpy as np
import pytest
import sequential
from av.container import InputContainer

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.model import Clip, ClipSpec
from pytest_videodecode.production.reading import open_clip
from pytest_videodecode.production.reading.clip_reader import ClipReader
from pytest_videodecode.production.video_io import decode_video_frames

WINDOW = range(27, 44, 4)

#: What each clip is answered by: a seek where its packets are a sure guide, else a decode from the start.
AWKWARD = {
    "h264:bframes=2:frames=24": "seek",
    "h264:bframes=2:container=mkv:frames=24": "seek",
    "h264:bframes=2:container=ts:frames=24": "seek",
    "h264:bframes=2:container=avi:frames=24": "start",
    "h264:bframes=1:gop=2:frames=24": "seek",
    "h264:bframes=3:open_gop=true:fragmented=true:frames=24": "seek",
    "hevc:bframes=3:open_gop=true:frames=24": "seek",
    "hevc:bframes=3:open_gop=true:container=mkv:frames=24": "seek",
    "hevc:bframes=3:open_gop=true:container=ts:start=10:frames=24": "seek",
    "h264:start=10:bframes=2:frames=24": "seek",
    "h264:variable_rate=true:frames=24": "seek",
    "h264:audio=true:faststart=false:frames=24": "seek",
    "mpeg4:bframes=2:frames=24": "seek",
    "mpeg4:bframes=2:container=avi:frames=24": "start",
    "av1:gop=2:container=mkv:frames=24": "seek",
    "vp9:container=webm:frames=24": "start",
}


class Reader:
    """A file object with nothing but ``read``."""

    def __init__(self, path: str) -> None:
        self._file = io.BytesIO(Path(path).read_bytes())

    def read(self, size: int, /) -> bytes:
        return self._file.read(size)


class Stubborn(Reader):
    """A file object whose ``seek`` is there and never works."""

    def tell(self) -> int:
        raise OSError("not on a pipe")

    def seek(self, offset: int, whence: int = 0, /) -> int:
        raise OSError("not on a pipe")


def times_of(clip: Clip, frames: Any) -> list[float]:
    return [float(clip.times[number]) for number in frames]


@pytest.mark.parametrize(
    "asked",
    [[0], [47], [*range(5)], [*WINDOW], [*range(48)], [40, 3, 21, 3], [9] * 3, [*reversed(range(30, 48))]],
    ids=["first", "last", "start", "window", "whole", "unsorted", "repeated", "backwards"],
)
def test_frames_are_those_asked_for_in_the_order_asked(clip: Clip, asked: list[int]) -> None:
    by_index = decode_video_frames(clip.path, frame_indices=asked)
    assert by_index.shape == (len(asked), clip.height, clip.width, 3)
    assert by_index.dtype == np.uint8
    assert clip.read(by_index, asked) == asked
    np.testing.assert_array_equal(decode_video_frames(clip.path, times_of(clip, asked)), by_index)


@pytest.mark.parametrize(("recipe", "way"), AWKWARD.items())
def test_every_frame_of_an_awkward_clip_can_be_had_alone(
    clip_cache: ClipCache, ways: Counter[str], recipe: str, way: str
) -> None:
    clip = clip_cache.clip(ClipSpec.parse(recipe))
    shown = sequential.decode(clip.path)
    assert len(shown.pictures) == clip.frames
    for number, (picture, time) in enumerate(zip(shown.pictures, shown.times, strict=True)):
        assert time is not None
        np.testing.assert_array_equal(decode_video_frames(clip.path, frame_indices=[number])[0], picture)
        np.testing.assert_array_equal(decode_video_frames(clip.path, [float(time)])[0], picture)
    assert +ways == Counter({way: 2 * clip.frames})


def encode(path: Path, x264_params: str, width: int = 192, height: int = 128) -> None:
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=30, options={"x264-params": f"keyint=10:{x264_params}"})
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.codec_context.thread_count = 1
        noise = np.random.default_rng(1).integers(0, 256, (height, width, 3), np.uint8)
        for number in range(30):
            picture = np.roll(noise, 3 * number, axis=1)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())


@pytest.mark.parametrize(
    ("x264_params", "way"),
    [
        # a "keyframe" is the start of a refresh, and nothing is shown until its end: go back further
        ("intra-refresh=1", "seek"),
        # a packet may be one field: the packets do not say how many frames there are
        ("interlaced=1", "start"),
    ],
)
def test_every_frame_is_right_where_packets_say_less_than_they_seem_to(
    tmp_path: Path, ways: Counter[str], x264_params: str, way: str
) -> None:
    path = tmp_path / "clip.mp4"
    encode(path, x264_params)
    for number, picture in enumerate(sequential.decode(path).pictures):
        np.testing.assert_array_equal(decode_video_frames(path, frame_indices=[number])[0], picture)
    assert +ways == Counter({way: 30})


def test_frames_of_another_size_are_scaled_to_the_first_by_whatever_way_they_are_reached(
    tmp_path: Path, ways: Counter[str]
) -> None:
    encode(tmp_path / "wide.264", "bframes=0")
    encode(tmp_path / "narrow.264", "bframes=0", width=96, height=64)
    raw = tmp_path / "both.264"
    raw.write_bytes((tmp_path / "wide.264").read_bytes() + (tmp_path / "narrow.264").read_bytes())
    path = tmp_path / "both.ts"
    with av.open(str(raw)) as source, av.open(str(path), "w") as container:
        stream = container.add_stream_from_template(source.streams.video[0])
        for number, packet in enumerate(packet for packet in source.demux(video=0) if packet.size):
            packet.stream, packet.time_base = stream, Fraction(1, 30)
            packet.pts = packet.dts = number
            container.mux(packet)
    shown = sequential.decode(path)
    assert [picture.shape for picture in shown.pictures] == [(128, 192, 3)] * 60
    for number, picture in enumerate(shown.pictures):
        np.testing.assert_array_equal(decode_video_frames(path, frame_indices=[number])[0], picture)
    assert +ways == Counter(seek=30, start=30)


class SeekTo:
    """A container whose seeks go to ``target`` instead, and fail where that is None."""

    def __init__(self, container: InputContainer, target: int | None) -> None:
        self.demux = container.demux
        self._container = container
        self._target = target

    def seek(self, offset: int, **options: Any) -> None:
        if self._target is None:
            raise av.FFmpegError(1, "Operation not permitted")
        self._container.seek(self._target, **options)


def redirect_seeks(monkeypatch: pytest.MonkeyPatch, target: int | None) -> None:
    def redirected(container: InputContainer, *arguments: Any) -> ClipReader:
        return ClipReader(cast("InputContainer", SeekTo(container, target)), *arguments)

    monkeypatch.setattr(open_clip, "ClipReader", redirected)


@pytest.mark.parametrize("frames", [range(4), WINDOW], ids=["start", "window"])
def test_a_failing_seek_falls_back_to_the_same_frames(
    clip: Clip, ways: Counter[str], monkeypatch: pytest.MonkeyPatch, frames: range
) -> None:
    by_seek = decode_video_frames(clip.path, frame_indices=frames)
    redirect_seeks(monkeypatch, None)
    by_index = decode_video_frames(clip.path, frame_indices=frames)
    by_time = decode_video_frames(clip.path, times_of(clip, frames))
    assert +ways == Counter({"seek": 1, "start": 2})
    np.testing.assert_array_equal(by_index, by_seek)
    np.testing.assert_array_equal(by_time, by_seek)


def test_seeks_that_land_too_late_are_not_believed(
    clip: Clip, ways: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    redirect_seeks(monkeypatch, 10**9)
    assert clip.read(decode_video_frames(clip.path, frame_indices=[20]), [20]) == [20]
    assert +ways == Counter({"start": 1})


@pytest.mark.parametrize("codec", ["av1", "h264", "mpeg4"])
def test_a_file_object_that_fails_to_seek_falls_back_to_the_same_frames(clip_cache: ClipCache, codec: str) -> None:
    class Rewinding(io.BytesIO):
        """Once read to its end it goes back to its start and nowhere else."""

        spent = False
        refused = 0

        def read(self, size: int | None = -1, /) -> bytes:
            read = super().read(size)
            self.spent |= self.tell() == len(self.getbuffer())
            return read

        def seek(self, offset: int, whence: int = 0, /) -> int:
            self.spent &= offset > 0
            self.refused += self.spent
            if self.spent:
                raise OSError("only back to the start")
            return super().seek(offset, whence)

    clip = clip_cache.clip(ClipSpec(codec=codec, container="mkv"))  # its frames are counted by reading all packets
    given = Rewinding(Path(clip.path).read_bytes())
    assert clip.read(decode_video_frames(given, frame_indices=WINDOW), WINDOW) == list(WINDOW)
    assert given.refused


@pytest.mark.parametrize("make", [Path, os.fspath, io.FileIO, Reader, Stubborn], ids=repr)
def test_every_kind_of_source_gives_the_same_frames(clip: Clip, make: Any) -> None:
    source = make(clip.path)
    assert clip.read(decode_video_frames(source, frame_indices=WINDOW), WINDOW) == list(WINDOW)
    if isinstance(source, io.IOBase):
        assert not source.closed
        again = decode_video_frames(source, times_of(clip, WINDOW))
        assert clip.read(again, WINDOW) == list(WINDOW)
        source.close()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are POSIX")
def test_a_named_pipe_is_read_once(clip: Clip, tmp_path: Path) -> None:
    pipe = tmp_path / "clip.mp4"
    os.mkfifo(pipe)

    def write() -> None:
        with contextlib.suppress(BrokenPipeError):  # the last packets are not read
            pipe.write_bytes(Path(clip.path).read_bytes())

    writer = threading.Thread(target=write)
    writer.start()
    frames = decode_video_frames(pipe, frame_indices=WINDOW)
    writer.join()
    assert clip.read(frames, WINDOW) == list(WINDOW)


def test_a_name_that_looks_like_a_protocol_is_a_file(
    av1: Clip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("take:1.mp4").write_bytes(Path(av1.path).read_bytes())
    assert av1.read(decode_video_frames("take:1.mp4", frame_indices=[7]), [7]) == [7]


@pytest.mark.parametrize("open_as", [str, Reader])
def test_the_nearest_frame_within_the_tolerance_counts(h264: Clip, open_as: Any) -> None:
    asked = [time + shift for time, shift in zip(times_of(h264, [5, 30]), (0.014, -0.014), strict=True)]
    frames = decode_video_frames(open_as(h264.path), asked, tolerance_s=0.1)
    assert h264.read(frames, [5, 30]) == [5, 30]


def test_a_tolerance_of_zero_takes_the_float_of_a_frame_time(h264: Clip) -> None:
    frames = decode_video_frames(h264.path, [number / 30 for number in range(48)], tolerance_s=0)
    assert h264.read(frames, range(48)) == list(range(48))


def test_times_of_numpy_and_indices_of_numpy_are_taken(h264: Clip) -> None:
    assert h264.read(decode_video_frames(h264.path, frame_indices=np.array([8, 2])), [8, 2]) == [8, 2]
    assert h264.read(decode_video_frames(h264.path, np.array([0.1, 0.2], np.float32)), [3, 6]) == [3, 6]


def test_tags_that_are_not_utf8_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "tagged.mp4"
    with av.open(str(path), "w") as container:
        container.metadata["title"] = "naive"
        stream = container.add_stream("mpeg4", rate=30)
        stream.width, stream.height = 64, 64
        for _ in range(3):
            container.mux(stream.encode(av.VideoFrame(64, 64, "yuv420p")))
        container.mux(stream.encode())
    path.write_bytes(path.read_bytes().replace(b"naive", b"na\xefve"))
    assert decode_video_frames(path, frame_indices=[2]).shape == (1, 64, 64, 3)
