"""Whatever a function under test returned, as one ``uint8 (N,H,W,3)`` array, or a clear refusal.

How many pictures there are is not judged here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_videodecode.errors import DecoderContractError

#: How far a float picture may leave [0, 1].
FLOAT_SLACK = 1e-3

ACCEPTED = (
    "return uint8, or floats in [0, 1], of shape (N,H,W,3) or (N,3,H,W), as a numpy array or torch tensor, "
    "or a list of RGB pictures (PIL images or arrays)"
)


def to_frames(returned: Any) -> NDArray[np.uint8]:
    """``returned`` as RGB frames, C-contiguous, without a copy where it already is that.

    Taken are numpy arrays, tensors (anything with ``detach().cpu().numpy()``, ``asnumpy()``, ``__array__`` or
    ``__dlpack__``), torchcodec's ``FrameBatch`` (its ``data``), and lists or tuples of such pictures or of PIL
    images. Where both the last and the second axis are 3, the last one is the colour. Floats are scaled by 255
    and rounded. Something empty is a batch of no frames.

    Raises:
        DecoderContractError: for anything else, saying what came and what is accepted.
    """
    if isinstance(returned, (list, tuple)):
        return _stack(returned)
    array = _as_array(returned)
    if array is None:
        raise _refusal(_describe(returned))
    return _batch(array)


def _batch(array: NDArray[Any]) -> NDArray[np.uint8]:
    if array.shape[:1] == (0,):
        return _stack(())
    if array.ndim != 4:
        raise _refusal(f"an array of shape {array.shape}")
    return np.ascontiguousarray(_to_uint8(_channels_last(array)))


def _stack(pictures: Sequence[Any]) -> NDArray[np.uint8]:
    batch = np.empty((0, 0, 0, 3), np.uint8)
    for number, picture in enumerate(pictures):
        array = _as_array(picture)
        if array is None:
            raise _refusal(f"a list with {_describe(picture)} at {number}")
        if array.ndim != 3:
            raise _refusal(f"a list whose picture {number} has the shape {array.shape}")
        rgb = _to_uint8(_channels_last(array))
        if number == 0:
            batch = np.empty((len(pictures), *rgb.shape), np.uint8)
        elif rgb.shape != batch.shape[1:]:
            raise _refusal(f"pictures of different sizes ({batch.shape[1:]}, then {rgb.shape} at {number})")
        batch[number] = rgb
    return batch


def _as_array(value: Any) -> NDArray[Any] | None:
    """``value`` as numpy sees it; None where it is no array of any kind."""
    if isinstance(value, np.ndarray):
        return value
    if not hasattr(value, "detach") and hasattr(getattr(value, "data", None), "detach"):
        value = value.data
    try:
        if hasattr(value, "detach"):
            return np.asarray(value.detach().cpu().numpy())
        if hasattr(value, "asnumpy"):
            return np.asarray(value.asnumpy())
        if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
            return np.asarray(value)
        if hasattr(value, "__dlpack__"):
            return np.from_dlpack(value)
    except (TypeError, ValueError, BufferError) as error:
        raise _refusal(f"{_describe(value)} that numpy cannot take ({error})") from error
    return None


def _channels_last(array: NDArray[Any]) -> NDArray[Any]:
    if array.shape[-1] == 3:
        return array
    if array.shape[-3] == 3:
        return np.moveaxis(array, -3, -1)
    raise _refusal(f"pictures of shape {array.shape[-3:]}, in which no axis holds 3 colours")


def _to_uint8(array: NDArray[Any]) -> NDArray[np.uint8]:
    if array.dtype == np.uint8:
        return array
    if array.dtype.kind != "f":
        raise _refusal(f"pictures of type {array.dtype}")
    low, high = float(array.min(initial=0.0)), float(array.max(initial=0.0))
    if not (low >= -FLOAT_SLACK and high <= 1 + FLOAT_SLACK):  # also true of nan
        raise _refusal(f"{array.dtype} pictures with values from {low:g} to {high:g}")
    scaled = array * np.float32(255)
    np.rint(scaled, out=scaled)
    return np.clip(scaled, 0, 255, out=scaled).astype(np.uint8)


def _describe(value: Any) -> str:
    cls = type(value)
    name = cls.__name__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__name__}"
    return "None" if value is None else f"an object of type {name}"


def _refusal(came: str) -> DecoderContractError:
    return DecoderContractError(f"the decoder returned {came}; {ACCEPTED}")
