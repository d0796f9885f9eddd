from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from seated import SMALL

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.errors import FormError, MeasurementError
from pytest_videodecode.isolation.protocol import Sample
from pytest_videodecode.measure.sample import Samples, SampleShape, clip_spec, request, require_right
from pytest_videodecode.model import DecoderInfo, ErrorInfo, Outcome, OutcomeKind

BY_INDEX = DecoderInfo(name="by index")
BY_TIME = DecoderInfo(name="by time", asks=("timestamps",))


@pytest.fixture(scope="module")
def samples(clip_cache: ClipCache) -> Samples:
    return Samples("mpeg4", SMALL, clip_cache, seed=3)


def test_default_sample_is_two_cameras_with_nine_of_33_frames() -> None:
    shape = SampleShape()
    assert shape.name == "2 x 9 of 33 frames, 256x256, 30 fps, GOP 2"
    assert shape.offsets == (0, 4, 8, 12, 16, 20, 24, 28, 32)


def test_one_frame_of_a_window_is_its_first() -> None:
    assert SampleShape(picked=1).offsets == (0,)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"cameras": 0}, "cameras=0; give 1 or more"),
        ({"picked": 10, "window": 9}, "window=9; give 10 or more"),
        ({"window": 200}, "length=128; give 200 or more"),
        ({"distinct": 0}, "distinct=0"),
    ],
)
def test_shape_that_cannot_be_is_one_line(given: dict[str, int], message: str) -> None:
    with pytest.raises(MeasurementError, match=message):
        SampleShape(**given)  # type: ignore[arg-type]


def test_each_camera_has_a_clip_of_its_own(samples: Samples) -> None:
    [cameras] = samples.clips
    assert len({clip.path for clip in cameras}) == 2
    assert all((clip.width, clip.height, clip.frames) == (160, 96, 16) for clip in cameras)


def test_half_of_the_samples_are_the_same_in_all_seats(samples: Samples) -> None:
    names = [[sample.name for sample in samples.of_seat(seat, BY_INDEX)] for seat in range(3)]
    assert all(len(set(seat)) == 4 for seat in names)
    assert names[0][:2] == names[1][:2] == names[2][:2]
    assert len({tuple(seat) for seat in names}) == 3


def test_equal_names_are_equal_requests(samples: Samples) -> None:
    by_name: dict[str, Sample] = {}
    for seat in range(8):
        for sample in samples.of_seat(seat, BY_INDEX):
            assert by_name.setdefault(sample.name, sample) == sample


def test_seed_decides(samples: Samples, clip_cache: ClipCache) -> None:
    again, other = (Samples("mpeg4", SMALL, clip_cache, seed=seed) for seed in (3, 4))
    assert again.of_seat(1, BY_INDEX) == samples.of_seat(1, BY_INDEX)
    assert other.of_seat(1, BY_INDEX) != samples.of_seat(1, BY_INDEX)


def test_windows_lie_inside_the_clip(samples: Samples) -> None:
    for seat in range(8):
        for sample in samples.of_seat(seat, BY_INDEX):
            for asked in sample.requests:
                assert asked.indices is not None
                assert 0 <= asked.indices[0] < asked.indices[-1] < 16


def test_decoder_that_takes_timestamps_only_is_asked_by_the_same_frames(samples: Samples) -> None:
    by_index, by_time = (samples.of_seat(0, info)[0].requests[0] for info in (BY_INDEX, BY_TIME))
    assert by_index.indices is not None
    assert by_time.indices is None
    clip = samples.clips[0][0]
    assert by_time.timestamps == tuple(float(clip.times[number]) for number in by_index.indices)


def test_more_samples_than_windows_repeat_some(clip_cache: ClipCache) -> None:
    shape = SampleShape(cameras=1, picked=3, window=15, width=160, height=96, gop=4, length=16, distinct=8)
    assert len(Samples("mpeg4", shape, clip_cache, seed=0).of_seat(0, BY_INDEX)) == 8


def test_clip_spec_keeps_what_the_text_sets() -> None:
    assert clip_spec("h264", SampleShape()).gop == 2
    spec = clip_spec("h264:gop=12:width=640", SampleShape(rate=Fraction(20)))
    assert (spec.gop, spec.width, spec.height, spec.rate, spec.frames) == (12, 640, 256, Fraction(20), 128)
    assert clip_spec("h264:gop=8", SampleShape()).gop == 8, "given, though it is the default"
    assert clip_spec("vp9", SampleShape()).container == "webm"
    assert clip_spec("h264-bframes", SampleShape(gop=8)).bframes == 2


def test_text_that_is_no_clip_spec_is_refused() -> None:
    with pytest.raises(FormError, match="gap"):
        clip_spec("h264:gap=12", SampleShape())


def test_proof_is_a_sample_of_every_seat(samples: Samples) -> None:
    [sample, *_] = samples.of_seat(7, BY_INDEX)
    assert tuple(request(clip, frames, BY_INDEX) for clip, frames in samples.proof()) == sample.requests


def test_what_is_not_the_frames_asked_is_not_measured(samples: Samples) -> None:
    [(clip, frames), *_] = samples.proof()
    error = Outcome(kind=OutcomeKind.ERROR, error=ErrorInfo(type="ValueError", message="no"))
    with pytest.raises(MeasurementError, match=r"fast is not measured on .*asked for 3 frames, ValueError: no"):
        require_right("fast", clip, frames, error)
    grey = np.zeros((3, 96, 160, 3), np.uint8)
    with pytest.raises(MeasurementError, match="a picture that is no frame of the clip; run: videodecode check fast"):
        require_right("fast", clip, frames, Outcome(kind=OutcomeKind.FRAMES, frames=grey, count=3))
