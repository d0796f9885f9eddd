from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.model import Clip, ClipSpec
from pytest_videodecode.production.errors import FrameRequestError, OutputBufferError
from pytest_videodecode.production.video_io import decode_video_frames

ASKED = [20, 3, 3, 41]


@pytest.fixture
def frames(h264: Clip) -> Any:
    return decode_video_frames(h264.path, frame_indices=ASKED)


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("layout", [None, "NHWC", "NCHW"])
@pytest.mark.parametrize("output", ["numpy", "torch"])
def test_every_form_holds_the_same_frames(
    h264: Clip, frames: Any, output: str, layout: str | None, dtype: str
) -> None:
    if output == "torch":
        torch = pytest.importorskip("torch")
    given = decode_video_frames(h264.path, frame_indices=ASKED, output=output, layout=layout, dtype=dtype)
    assert isinstance(given, np.ndarray if output == "numpy" else torch.Tensor)
    array = np.asarray(given)
    assert array.dtype == dtype
    if layout == "NCHW" or (layout is None and output == "torch"):
        assert array.shape == (4, 3, h264.height, h264.width)
        array = array.transpose(0, 2, 3, 1)
    expected = frames if dtype == "uint8" else frames.astype(np.float32) / np.float32(255)
    np.testing.assert_array_equal(array, expected)
    assert array.flags.c_contiguous, "NCHW is a view of memory that lies as NHWC"


def test_white_is_one_and_black_is_zero(h264: Clip, frames: Any) -> None:
    floats = decode_video_frames(h264.path, frame_indices=ASKED, dtype="float32")
    assert floats.min() >= 0
    assert floats.max() <= 1
    assert (floats[frames == 255] == 1).all()


@pytest.mark.parametrize("asked", [[7], ASKED], ids=["one frame", "several"])
@pytest.mark.parametrize("width", [192, 200], ids=["lines without padding", "padded lines"])
def test_an_answer_is_the_callers_own(clip_cache: ClipCache, asked: list[int], width: int) -> None:
    clip = clip_cache.clip(ClipSpec(codec="mpeg4", width=width))
    first = decode_video_frames(clip.path, frame_indices=asked)
    kept = first.copy()
    second = decode_video_frames(clip.path, frame_indices=asked)
    assert not np.shares_memory(first, second)
    second[...] = 0
    np.testing.assert_array_equal(first, kept)
    assert first.flags.c_contiguous
    assert first.flags.writeable


@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("asked", [[7], ASKED], ids=["one frame", "several"])
def test_frames_are_written_into_memory_of_any_strides(h264: Clip, layout: str, dtype: str, asked: list[int]) -> None:
    expected = decode_video_frames(h264.path, frame_indices=asked, layout=layout, dtype=dtype)
    room = np.zeros((2 * len(asked), *expected.shape[1:]), dtype)
    out = room[::-2]
    assert decode_video_frames(h264.path, frame_indices=asked, layout=layout, dtype=dtype, out=out) is out
    np.testing.assert_array_equal(out, expected)
    assert not room[::2].any()


def test_frames_are_written_into_a_tensor(h264: Clip, frames: Any) -> None:
    torch = pytest.importorskip("torch")
    out = torch.zeros((4, 3, h264.height, h264.width), dtype=torch.uint8)
    assert decode_video_frames(h264.path, frame_indices=ASKED, output="torch", out=out) is out
    np.testing.assert_array_equal(out.numpy(), frames.transpose(0, 3, 1, 2))


@pytest.mark.parametrize(
    ("out", "says"),
    [
        (np.zeros((4, 128, 192, 3), np.float32), "out is float32 .* the answer uint8"),
        (np.zeros((3, 128, 192, 3), np.uint8), r"\(3, 128, 192, 3\) and the answer uint8 \(4, 128, 192, 3\)"),
        (np.zeros((4, 3, 128, 192), np.uint8), r"\(4, 3, 128, 192\) and the answer"),
        ([0], "out is list, no writable array"),
        (np.broadcast_to(np.uint8(0), (4, 128, 192, 3)), "no writable array"),
    ],
)
def test_memory_that_does_not_fit_is_an_error_that_says_what_would(h264: Clip, out: Any, says: str) -> None:
    with pytest.raises(OutputBufferError, match=says):
        decode_video_frames(h264.path, frame_indices=ASKED, out=out)


def test_a_tensor_with_a_gradient_is_no_memory_to_write_to(h264: Clip) -> None:
    torch = pytest.importorskip("torch")
    out = torch.zeros((4, 3, h264.height, h264.width), requires_grad=True)
    with pytest.raises(OutputBufferError, match="no tensor that can be written to"):
        decode_video_frames(h264.path, frame_indices=ASKED, output="torch", dtype="float32", out=out)


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ({"output": "jax"}, "output is 'jax'; give 'numpy' or 'torch'"),
        ({"layout": "CHW"}, "layout is 'CHW'; give 'NHWC' or 'NCHW'"),
        ({"dtype": "float64"}, "dtype is 'float64'; give 'uint8' or 'float32'"),
        ({"device": "abacus"}, "device is 'abacus'"),
    ],
)
def test_an_unknown_form_is_an_error_that_names_the_known(h264: Clip, option: dict[str, str], says: str) -> None:
    with pytest.raises(FrameRequestError, match=says):
        decode_video_frames(h264.path, frame_indices=[0], **option)  # type: ignore[arg-type]
