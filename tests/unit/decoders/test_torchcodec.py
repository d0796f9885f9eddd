"""torchcodec needs torch, which the tests of this package do not: a module of its shape stands in for it."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_videodecode.decoders.registry import load
from pytest_videodecode.decoders.spec import parse
from pytest_videodecode.errors import DecoderSpecError, Unsupported
from pytest_videodecode.model import DecodeRequest

TIMES = [Fraction(number * 1001, 30000) for number in range(40)]


class Tensor:
    """What this package uses of a torch tensor."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array

    def __getitem__(self, places: list[int]) -> Tensor:
        return Tensor(self.array[places])

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self

    def numpy(self) -> NDArray[Any]:
        return self.array


class VideoDecoder:
    """Gives the frame on show at a time, by exact comparison, as torchcodec does."""

    settings: dict[str, Any]

    def __init__(self, source: str, **settings: Any) -> None:
        VideoDecoder.settings = {"source": source, **settings}
        self.metadata = SimpleNamespace(average_fps=30000 / 1001)

    def get_frames_at(self, indices: list[int]) -> Any:
        pictures = np.stack([np.full((2, 4, 3), number, np.uint8) for number in indices])
        times = np.array([float(TIMES[number]) for number in indices])
        return SimpleNamespace(data=Tensor(pictures), pts_seconds=Tensor(times))

    def get_frames_played_at(self, seconds: list[float]) -> Any:
        return self.get_frames_at([max(n for n, start in enumerate(TIMES) if start <= time) for time in seconds])


@pytest.fixture
def _stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torchcodec", ModuleType("torchcodec"))
    monkeypatch.setitem(sys.modules, "torchcodec.decoders", ModuleType("torchcodec.decoders"))
    sys.modules["torchcodec.decoders"].__dict__["VideoDecoder"] = VideoDecoder


def numbers(spec: str = "torchcodec", **asked: Any) -> list[int]:
    frames = load(parse(spec)).decode(DecodeRequest(path="clip.mp4", **asked))
    assert isinstance(frames, np.ndarray)
    return [int(frame[0, 0, 0]) for frame in frames]


@pytest.mark.usefixtures("_stand_in")
def test_times_that_round_below_the_start_of_their_frame_still_mean_that_frame() -> None:
    rounded = tuple(float(time) for time in TIMES)
    assert any(Fraction(time) < start for time, start in zip(rounded, TIMES, strict=True))
    assert numbers(timestamps=rounded) == list(range(len(TIMES)))
    early = tuple(time - 5e-5 for time in rounded[1:])
    assert numbers(timestamps=early) == list(range(1, len(TIMES)))


@pytest.mark.usefixtures("_stand_in")
def test_a_wide_tolerance_does_not_reach_the_next_frame() -> None:
    assert numbers(timestamps=(float(TIMES[3]), float(TIMES[1])), tolerance_s=0.1) == [3, 1]


@pytest.mark.usefixtures("_stand_in")
def test_a_time_between_frames_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"no frame within 0\.0001 s of timestamp 0\.05; the nearest is 0\.01"):
        numbers(timestamps=(0.05,))


@pytest.mark.usefixtures("_stand_in")
def test_settings_reach_the_decoder() -> None:
    assert numbers(indices=(5, 2)) == [5, 2]
    exact = {"source": "clip.mp4", "dimension_order": "NHWC", "device": "cpu", "seek_mode": "exact"}
    assert VideoDecoder.settings == exact
    numbers("torchcodec,seek_mode=approximate", indices=(0,), threads=0, device="cuda")
    assert VideoDecoder.settings == {
        **exact,
        "device": "cuda",
        "seek_mode": "approximate",
        "num_ffmpeg_threads": 0,
    }
    with pytest.raises(DecoderSpecError, match="option seek_mode=fast: unknown value; known are exact, approximate"):
        load(parse("torchcodec,seek_mode=fast"))


def test_torchcodec_without_its_ffmpeg_is_unsupported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "torchcodec"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "decoders.py").write_text("raise RuntimeError('Could not load libtorchcodec. Likely causes:\\n 1. …')")
    for name in ("torchcodec", "torchcodec.decoders"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(Unsupported) as caught:
        load(parse("torchcodec"))
    del sys.modules["torchcodec"]
    assert str(caught.value).startswith("torchcodec finds no FFmpeg it can load (Could not load libtorchcodec); ")
    assert "\n" not in str(caught.value)
