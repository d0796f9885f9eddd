from __future__ import annotations

import io
import math
import pickle
import re
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
import sequential

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.model import Clip, ClipSpec
from pytest_videodecode.production import errors
from pytest_videodecode.production.video_io import decode_video_frames


@pytest.fixture
def unreadable(tmp_path: Path) -> dict[str, Path]:
    (tmp_path / "empty.mp4").touch()
    (tmp_path / "text.mp4").write_text("no video in here\n" * 100)
    return {
        "absent": tmp_path / "absent.mp4",
        "folder": tmp_path,
        "empty": tmp_path / "empty.mp4",
        "text": tmp_path / "text.mp4",
    }


@pytest.mark.parametrize(
    ("what", "kind"),
    [
        ("absent", FileNotFoundError),
        ("folder", IsADirectoryError),
        ("empty", av.InvalidDataError),
        ("text", av.InvalidDataError),
    ],
)
def test_what_ffmpeg_cannot_open_is_its_own_error_with_the_file(
    unreadable: dict[str, Path], what: str, kind: type[Exception]
) -> None:
    with pytest.raises(kind) as caught:
        decode_video_frames(unreadable[what], frame_indices=[0])
    assert isinstance(caught.value, av.FFmpegError)
    assert isinstance(caught.value, errors.VideoReadError)
    assert f"while reading frame index 0 of {unreadable[what]}" in str(caught.value)


def _closed() -> io.BytesIO:
    file = io.BytesIO(b"")
    file.close()
    return file


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (_closed(), "<BytesIO> is a closed file object"),
        (io.StringIO("text"), "<StringIO> is opened as text"),
        (None, "cannot read a video from <NoneType>"),
        (b"clip.mp4", "cannot read a video from <bytes>"),
        (7, "cannot read a video from <int>"),
    ],
)
def test_what_is_no_source_is_an_error_that_says_so(source: Any, says: str) -> None:
    with pytest.raises(errors.VideoSourceError, match=says):
        decode_video_frames(source, frame_indices=[0])


def test_a_file_opened_for_writing_is_no_source(tmp_path: Path) -> None:
    with (
        open(tmp_path / "out.mp4", "wb") as file,
        pytest.raises(errors.VideoSourceError, match=r"out\.mp4; give a path or a file object opened in mode 'rb'"),
    ):
        decode_video_frames(file, frame_indices=[0])


def test_a_file_without_a_video_stream_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "sound.wav"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=8000, layout="mono")
        sound = av.AudioFrame.from_ndarray(np.zeros((1, 800), np.int16), format="s16", layout="mono")
        sound.sample_rate = 8000
        container.mux(stream.encode(sound))
    with pytest.raises(errors.NoVideoStreamError, match=r"sound\.wav has no video stream"):
        decode_video_frames(path, frame_indices=[0])


@pytest.mark.parametrize(
    ("asked", "kind", "says"),
    [
        ({}, errors.FrameRequestError, "either timestamps or frame_indices"),
        ({"timestamps": [0.0], "frame_indices": [0]}, errors.FrameRequestError, "either timestamps or"),
        ({"timestamps": []}, errors.FrameRequestError, "timestamps is empty"),
        ({"frame_indices": []}, errors.FrameRequestError, "frame_indices is empty"),
        ({"frame_indices": np.array([], int)}, errors.FrameRequestError, "frame_indices is empty"),
        ({"frame_indices": [1, 1.5]}, errors.FrameRequestError, "whole numbers.*not 1.5"),
        ({"frame_indices": 3}, errors.FrameRequestError, "sequence of numbers.*not 3"),
        ({"timestamps": "0.1"}, errors.FrameRequestError, r"\(seconds\), not '0'"),
        ({"timestamps": [None]}, errors.FrameRequestError, "not None"),
        ({"timestamps": [0.0], "tolerance_s": math.nan}, errors.FrameRequestError, "tolerance_s is nan"),
        ({"timestamps": [0.0], "tolerance_s": -1}, errors.FrameRequestError, "tolerance_s is -1"),
        ({"frame_indices": [3, -2]}, errors.FrameIndexError, "frame index -2 asked of .*count from 0"),
        ({"frame_indices": [3, 48, 70]}, errors.FrameIndexError, "frame index 70 .* shows 48 frames"),
        ({"frame_indices": [10**30]}, errors.FrameIndexError, "shows 48 frames"),
        ({"timestamps": [math.nan]}, errors.FrameTimestampError, "timestamp nan asked"),
        ({"timestamps": [0.1, math.inf]}, errors.FrameTimestampError, "timestamp inf asked"),
        ({"timestamps": [-0.5]}, errors.FrameTimestampError, "timestamp -0.5 s .* 0.5 s from the nearest"),
        ({"timestamps": [0.1, 90, 2]}, errors.FrameTimestampError, "timestamp 90 s .* of its 48 frames"),
        ({"timestamps": [0.1, 0.1002]}, errors.FrameTimestampError, "0.1002 s .* 0.0002 s .* of 0.0001 s"),
    ],
)
def test_a_request_that_cannot_be_met_is_a_typed_error(
    h264: Clip, asked: dict[str, Any], kind: type[errors.VideoReadError], says: str
) -> None:
    with pytest.raises(kind, match=says) as caught:
        decode_video_frames(h264.path, **asked)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, ValueError | IndexError)


@pytest.mark.parametrize("container", ["mp4", "avi"])
def test_a_timestamp_error_carries_the_worst_timestamp_its_distance_and_the_file(
    clip_cache: ClipCache, container: str
) -> None:
    clip = clip_cache.clip(ClipSpec(codec="mpeg4", container=container))
    last = float(clip.times[-1])
    with pytest.raises(errors.FrameTimestampError) as caught:
        decode_video_frames(clip.path, [0.0, last + 3, last + 1])
    assert caught.value.timestamp == last + 3
    assert caught.value.distance == pytest.approx(3)
    assert caught.value.file == clip.path
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.timestamp, again.file) == (str(caught.value), last + 3, clip.path)


def test_a_stream_without_times_can_be_asked_by_index_alone(h264: Clip, tmp_path: Path) -> None:
    path = tmp_path / "raw.264"
    with av.open(h264.path) as source, av.open(str(path), "w", format="h264") as raw:
        stream = raw.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.dts is not None:
                packet.stream = stream
                raw.mux(packet)
    assert h264.read(decode_video_frames(path, frame_indices=[30]), [30]) == [30]
    with pytest.raises(errors.FrameTimestampError, match="no frame with a time; ask by frame_indices") as caught:
        decode_video_frames(path, [1.0])
    assert caught.value.distance == math.inf


@pytest.mark.parametrize("codec", ["av1", "h264"])
def test_damage_before_the_last_frame_asked_is_the_error_of_ffmpeg(
    clip_cache: ClipCache, tmp_path: Path, codec: str
) -> None:
    clip = clip_cache.clip(ClipSpec(codec=codec))
    whole = Path(clip.path).read_bytes()
    cut = tmp_path / "cut.mp4"
    cut.write_bytes(whole[: len(whole) * 6 // 10])
    shown = sequential.decode(cut)
    intact = len(shown.pictures) - 8  # what the last GOP shows may differ from one thread count to the next
    frames = decode_video_frames(cut, frame_indices=range(intact))
    np.testing.assert_array_equal(frames, np.stack(shown.pictures[:intact]))
    assert shown.error is not None
    with pytest.raises(shown.error) as caught:
        decode_video_frames(cut, frame_indices=[0, clip.frames - 1])
    assert isinstance(caught.value, errors.DamagedVideoError)
    said = re.search(
        r"while reading frame index 0 to 47 of .*cut.mp4, of which (\d+) frames could be", str(caught.value)
    )
    assert said
    assert int(said[1]) >= intact
    assert "\n" not in str(caught.value)


def test_a_file_that_ends_early_without_an_error_says_how_many_frames_there_are(
    clip_cache: ClipCache, tmp_path: Path
) -> None:
    clip = clip_cache.clip(ClipSpec(codec="h264", container="mkv"))
    whole = Path(clip.path).read_bytes()
    cut = tmp_path / "cut.mkv"
    cut.write_bytes(whole[: len(whole) // 2])
    shown = sequential.decode(cut)
    assert 0 < len(shown.pictures) < clip.frames
    with pytest.raises(errors.FrameIndexError, match=f"shows {len(shown.pictures)} frames") as caught:
        decode_video_frames(cut, frame_indices=[0, clip.frames - 1])
    assert caught.value.frames == len(shown.pictures)


def test_a_file_replaced_by_something_shorter_between_two_requests_is_read_anew(h264: Clip, tmp_path: Path) -> None:
    path = tmp_path / "clip.mp4"
    path.write_bytes(Path(h264.path).read_bytes())
    assert h264.read(decode_video_frames(path, frame_indices=[40]), [40]) == [40]
    path.write_bytes(b"")
    with pytest.raises(av.FFmpegError):
        decode_video_frames(path, frame_indices=[40])
