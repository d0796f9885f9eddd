from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_videodecode.decoders.normalise import ACCEPTED, to_frames
from pytest_videodecode.errors import DecoderContractError

FRAMES = np.random.default_rng(0).integers(0, 256, (4, 6, 8, 3), dtype=np.uint8)


class FakeTensor:
    """What this package uses of a torch tensor."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        self.data = self

    def detach(self) -> FakeTensor:
        return self

    def cpu(self) -> FakeTensor:
        return self

    def numpy(self) -> NDArray[Any]:
        if self.array.dtype == object:
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self.array


class FakeImage:
    """What numpy uses of a PIL image."""

    def __init__(self, array: NDArray[np.uint8]) -> None:
        self.__array_interface__ = array.__array_interface__
        self._array = array


class FakeBatch:
    """torchcodec's FrameBatch."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.data = FakeTensor(array)
        self.pts_seconds = FakeTensor(np.arange(len(array)))


class FakeNd:
    """decord's NDArray."""

    def __init__(self, array: NDArray[np.uint8]) -> None:
        self.array = array

    def asnumpy(self) -> NDArray[np.uint8]:
        return self.array


class FakeDlpack:
    def __dlpack__(self, **kwargs: Any) -> Any:
        return FRAMES.__dlpack__(**kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        return FRAMES.__dlpack_device__()


def planes(array: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(np.moveaxis(array, -1, -3))


@pytest.mark.parametrize(
    "returned",
    [
        pytest.param(FRAMES, id="uint8 NHWC"),
        pytest.param(planes(FRAMES), id="uint8 NCHW"),
        pytest.param(FRAMES.astype(np.float32) / 255, id="float32 NHWC"),
        pytest.param(planes(FRAMES.astype(np.float64) / 255), id="float64 NCHW"),
        pytest.param((FRAMES / 255).astype(np.float16), id="float16"),
        pytest.param(FakeTensor(planes(FRAMES)), id="tensor"),
        pytest.param(FakeTensor(planes(FRAMES).astype(np.float32) / 255), id="float tensor, LeRobot"),
        pytest.param(FakeBatch(FRAMES), id="FrameBatch"),
        pytest.param(FakeNd(FRAMES), id="decord"),
        pytest.param(FakeDlpack(), id="dlpack"),
        pytest.param([FakeImage(frame) for frame in FRAMES], id="PIL images, OpenWAM"),
        pytest.param(tuple(FRAMES), id="tuple of arrays"),
        pytest.param([FakeTensor(planes(frame)) for frame in FRAMES], id="list of tensors"),
        pytest.param(list(FRAMES.astype(np.float32) / 255), id="list of float pictures"),
        pytest.param(FRAMES[:, :, ::-1][:, :, ::-1], id="a view"),
    ],
)
def test_every_accepted_form_gives_the_same_frames(returned: Any) -> None:
    frames = to_frames(returned)
    assert frames.dtype == np.uint8
    assert frames.flags.c_contiguous
    np.testing.assert_array_equal(frames, FRAMES)


def test_frames_that_need_nothing_are_not_copied() -> None:
    assert to_frames(FRAMES) is FRAMES
    assert np.shares_memory(to_frames(FakeTensor(FRAMES)), FRAMES)


def test_where_two_axes_could_be_colour_the_last_one_is() -> None:
    square = np.arange(2 * 3 * 5 * 3, dtype=np.uint8).reshape(2, 3, 5, 3)
    np.testing.assert_array_equal(to_frames(square), square)


def test_floats_a_hair_outside_the_range_are_clipped() -> None:
    pictures = np.full((1, 2, 2, 3), 1.0005, np.float32)
    assert (to_frames(pictures) == 255).all()
    assert (to_frames(pictures - 1.001) == 0).all()


@pytest.mark.parametrize("returned", [[], (), np.empty(0), np.empty((0, 6, 8, 3), np.uint8), FakeTensor(np.empty(0))])
def test_nothing_is_a_batch_of_no_frames(returned: Any) -> None:
    frames = to_frames(returned)
    assert frames.dtype == np.uint8
    assert frames.ndim == 4
    assert len(frames) == 0


def generator() -> Iterator[NDArray[np.uint8]]:
    yield FRAMES[0]


@pytest.mark.parametrize(
    ("returned", "came"),
    [
        (None, "None"),
        (generator(), "an object of type generator"),
        (iter([FRAMES[0]]), "an object of type list_iterator"),
        (map(str, []), "an object of type map"),
        ("frames", "an object of type str"),
        (b"\0" * 12, "an object of type bytes"),
        ({"frames": FRAMES}, "an object of type dict"),
        (7, "an object of type int"),
        (np.float64(0.5), "an array of shape ()"),
        (FRAMES[0], "an array of shape (6, 8, 3)"),
        (FRAMES[None], "an array of shape (1, 4, 6, 8, 3)"),
        (FRAMES.astype(np.int64), "pictures of type int64"),
        (FRAMES > 3, "pictures of type bool"),
        (FRAMES[..., :1], "pictures of shape (6, 8, 1), in which no axis holds 3 colours"),
        (np.zeros((2, 6, 8, 4), np.uint8), "pictures of shape (6, 8, 4), in which no axis holds 3 colours"),
        (FRAMES.astype(np.float32), "float32 pictures with values from 0 to 255"),
        (np.full((1, 2, 2, 3), -0.01), "float64 pictures with values from -0.01 to 0"),
        (np.full((1, 2, 2, 3), np.nan), "float64 pictures with values from nan to nan"),
        (FakeTensor(np.empty((1, 2, 2, 3), object)), "FakeTensor that numpy cannot take (Got unsupported ScalarType"),
        ([FRAMES[0], None], "a list with None at 1"),
        ([(0, FRAMES[0])], "a list with an object of type tuple at 0"),
        ([FRAMES], "a list whose picture 0 has the shape (4, 6, 8, 3)"),
        ([FakeImage(FRAMES[0, :, :, 0])], "a list whose picture 0 has the shape (6, 8)"),
        ([FRAMES[0], FRAMES[0, :4]], "pictures of different sizes ((6, 8, 3), then (4, 8, 3) at 1)"),
    ],
)
def test_anything_else_is_refused_in_one_line(returned: Any, came: str) -> None:
    with pytest.raises(DecoderContractError) as caught:
        to_frames(returned)
    message = str(caught.value)
    assert came in message
    assert message.endswith(ACCEPTED)
    assert "\n" not in message
