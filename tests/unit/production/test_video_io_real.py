from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
import sequential

from pytest_videodecode.production.errors import FrameConversionError, FrameIndexError, FrameTimestampError
from pytest_videodecode.production.reading.video_source import PYAV_MAJOR, THREADS_VARIABLE
from pytest_videodecode.production.video_io import decode_video_frames

#: Small files, one for each way in which real ones are awkward; the manifest says what they are.
FILES = [
    "av1-conformance-10bit-quantizer.ivf",
    "av1-conformance-resize-midstream.ivf",
    "h264-audio-start-10s.ts",
    "h264-bframes-audio.mkv",
    "h264-bframes-negative-step.avi",
    "h264-conformance-qcif.264",
    "h264-corrupt-mid-file.mp4",
    "h264-edit-list-bframes.mp4",
    "h264-fragmented-audio.mp4",
    "h264-interlaced-avchd.mts",
    "h264-invalid-nal-near-end.mp4",
    "h264-start-10s.mp4",
    "h264-two-video-two-audio.mp4",
    "h264-vfr-phone.mp4",
    "mpeg4-audio.avi",
    "vp8-audio.webm",
    "vp9-odd-size.webm",
]


@pytest.mark.parametrize("name", FILES)
def test_frames_are_those_of_a_sequential_decode(real_clips: Path, name: str) -> None:
    path = real_clips / name
    shown = sequential.decode(path)
    count = len(shown.pictures)
    asked = [count - 1, 0, count * 2 // 3, count // 3, count // 2, count // 2]
    expected = np.stack([shown.pictures[number] for number in asked])
    np.testing.assert_array_equal(decode_video_frames(path, frame_indices=asked), expected)
    alone = decode_video_frames(path, frame_indices=[count * 2 // 3])
    np.testing.assert_array_equal(alone, expected[2:3])
    times = [shown.times[number] for number in asked]
    if None in times:
        with pytest.raises(FrameTimestampError, match="no frame with a time"):
            decode_video_frames(path, [0.0])
    else:
        floats = [float(time) for time in times if time is not None]
        np.testing.assert_array_equal(decode_video_frames(path, floats), expected)
    # frames that a sequential decode loses to an error behind them may be had
    with pytest.raises(shown.error or FrameIndexError):
        decode_video_frames(path, frame_indices=[count + 16 if shown.error else count])


def test_a_header_that_counts_frames_which_are_not_there_is_not_believed(real_clips: Path) -> None:
    with pytest.raises(FrameIndexError, match="shows 0 frames"):
        decode_video_frames(real_clips / "h264-header-524-no-samples.mp4", frame_indices=[0])


@pytest.mark.skipif(PYAV_MAJOR < 17, reason="the FFmpeg of PyAV 15 converts every frame of it")
def test_a_frame_that_ffmpeg_refuses_to_convert_is_a_typed_error(
    real_clips: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = real_clips / "av1-argon-12bit-thread-mismatch.obu"
    monkeypatch.setenv(THREADS_VARIABLE, "1")
    with pytest.raises(FrameConversionError, match=r"of .*mismatch\.obu \(.*colour matrix \d+\) to RGB"):
        decode_video_frames(path, frame_indices=range(17))


def test_a_stream_that_is_damaged_from_its_second_frame_on_is_the_error_of_ffmpeg(real_clips: Path) -> None:
    with pytest.raises(av.InvalidDataError):
        decode_video_frames(real_clips / "av1-fuzz-corrupt-midway.ivf", frame_indices=[1])
