"""LeRobot needs a Python and several GB of its own; a module of its shape stands in for it."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_videodecode.decoders.registry import load
from pytest_videodecode.decoders.spec import parse
from pytest_videodecode.model import DecodeRequest


def with_uint8(
    video_path: str,
    timestamps: list[float],
    tolerance_s: float,
    backend: str | None = None,
    return_uint8: bool = False,
) -> NDArray[Any]:
    planes = np.full((len(timestamps), 3, 4, 6), 7, np.uint8)
    assert return_uint8
    assert backend in (None, "pyav")
    return planes


def before_uint8(
    video_path: str, timestamps: list[float], tolerance_s: float, backend: str | None = None
) -> NDArray[Any]:
    return np.full((len(timestamps), 3, 4, 6), 7 / 255, np.float32)


@pytest.mark.parametrize("function", [with_uint8, before_uint8])
@pytest.mark.parametrize("spec", ["lerobot", "lerobot,backend=pyav"])
def test_old_and_new_readers_give_rgb_frames(spec: str, function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("lerobot", "lerobot.datasets", "lerobot.datasets.video_utils"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules["lerobot"].__dict__["__version__"] = "0.6.1"
    sys.modules["lerobot.datasets.video_utils"].__dict__["decode_video_frames"] = function
    decoder = load(parse(spec))
    frames = decoder.decode(DecodeRequest(path="clip.mp4", timestamps=(0.0, 0.1)))
    assert isinstance(frames, np.ndarray)
    assert frames.shape == (2, 4, 6, 3)
    assert frames.dtype == np.uint8
    assert (frames == 7).all()
    assert decoder.info.asks == ("timestamps",)
    assert decoder.info.versions["lerobot"] == "0.6.1"
