"""``device="cuda"``. Without a device only its errors and the way through the reader can be seen."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import av
import numpy as np
import pytest
from av.container import InputContainer
from av.video.frame import VideoFrame

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.model import Clip, ClipSpec
from pytest_videodecode.production.decoder_cache import DecoderCache
from pytest_videodecode.production.errors import FrameRequestError, HardwareError, VideoReadError
from pytest_videodecode.production.reading import hardware, video_source
from pytest_videodecode.production.reading.hardware import TOLERANCE, DeviceContainer, DeviceContext, cuda, decoder_for
from pytest_videodecode.production.video_io import decode_video_frames

SPECS = (
    "av1",
    "av1:container=mkv",
    "h264:bframes=2",
    "h264:container=ts:bframes=2",
    "h264:container=avi:bframes=2",
    "hevc:open_gop=true:bframes=2",
)
INDICES = [40, 3, 4, 5, 21, 21, 47]


def device_is_here() -> bool:
    try:
        cuda_codec = av.Codec("h264", "r")
        av.CodecContext.create(cuda_codec, "r", hwaccel=cuda("cuda"))
    except (HardwareError, av.FFmpegError):
        return False
    return True


HERE = device_is_here()
without_device = pytest.mark.skipif(HERE, reason="a CUDA device is here")
with_device = pytest.mark.skipif(not HERE, reason="no CUDA device is here")


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.fixture
def own_decoders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any device is FFmpeg's software decoder, in the place where the device's would be."""

    def on_software(container: InputContainer, device: str) -> Any:
        return DeviceContainer(container, None)

    monkeypatch.setattr(video_source, "on_device", on_software)


@pytest.mark.parametrize("device", ["", "gpu", "cuda:", "cuda:x", "cuda:1234", "cpu:0", "CUDA"])
def test_an_unknown_device_is_a_bad_request(av1: Clip, device: str) -> None:
    with pytest.raises(FrameRequestError, match="give 'cpu', 'cuda' or 'cuda:N'"):
        decode_video_frames(av1.path, frame_indices=[0], device=device)


def test_pyav_without_cuda_is_said(monkeypatch: pytest.MonkeyPatch, av1: Clip) -> None:
    monkeypatch.setattr(hardware, "hwdevices_available", lambda: ["vaapi"])
    with pytest.raises(HardwareError, match=f"PyAV {av.__version__} is built without CUDA"):
        decode_video_frames(av1.path, frame_indices=[0], device="cuda")


@without_device
@pytest.mark.parametrize("device", ["cuda", "cuda:0", "cuda:7"])
@pytest.mark.parametrize("codec", ["av1", "h264", "hevc"])
def test_no_device_is_said(clip_cache: ClipCache, codec: str, device: str) -> None:
    clip = clip_cache.clip(ClipSpec(codec=codec))
    with pytest.raises(HardwareError, match=r"no CUDA device can be used .* nvidia-smi") as caught:
        decode_video_frames(clip.path, frame_indices=[0], device=device)
    assert isinstance(caught.value, VideoReadError)


@without_device
def test_nothing_stays_open_when_there_is_no_device(av1: Clip) -> None:
    with DecoderCache() as cache:
        before = open_descriptors()
        for _ in range(50):
            with pytest.raises(HardwareError):
                decode_video_frames(av1.path, frame_indices=[0], device="cuda", decoder_cache=cache)
        assert (open_descriptors(), len(cache)) == (before, 0)


def test_a_codec_that_no_device_decodes_is_said(tmp_path: Path) -> None:
    path = tmp_path / "lossless.mkv"
    with av.open(str(path), "w") as output:
        stream = output.add_stream("ffv1", rate=30)
        stream.width, stream.height, stream.pix_fmt = 32, 16, "yuv420p"
        output.mux(stream.encode(VideoFrame(32, 16, "yuv420p")))
        output.mux(stream.encode(None))
    with pytest.raises(HardwareError, match="no CUDA decoder for ffv1; decode it with device='cpu'"):
        decode_video_frames(path, frame_indices=[0], device="cuda")


@pytest.mark.usefixtures("own_decoders")
@pytest.mark.parametrize("spec", SPECS)
def test_the_reader_goes_through_a_decoder_of_its_own(clip_cache: ClipCache, spec: str) -> None:
    clip = clip_cache.clip(ClipSpec.parse(spec))
    with DecoderCache() as cache:
        for given in (None, cache, cache):
            frames = decode_video_frames(clip.path, frame_indices=INDICES, device="cuda", decoder_cache=given)
            assert clip.read(frames, INDICES) == INDICES
            assert np.array_equal(frames, decode_video_frames(clip.path, frame_indices=INDICES))


@pytest.mark.usefixtures("own_decoders")
def test_a_decoder_of_its_own_is_flushed_by_a_seek(h264: Clip) -> None:
    with DecoderCache() as cache:
        for index in (47, 0, 30, 1, 47, 46):
            frames = decode_video_frames(h264.path, frame_indices=[index], device="cuda", decoder_cache=cache)
            assert h264.read(frames, [index]) == [index]


def test_a_closed_container_keeps_no_decoder(av1: Clip) -> None:
    with DeviceContainer(av.open(av1.path), None) as container:
        (stream,) = container.streams.video
        first = stream.codec_context
        assert next(iter(container.decode(stream))).pts == 0
    assert stream.codec_context is not first


class Downloads:
    """A decoder that gives out what is downloaded from a device: NV12, with pts and nothing else."""

    def __init__(self, frames: list[VideoFrame], semi_planar: str) -> None:
        self._frames = iter(frames)
        self._semi_planar = semi_planar
        self.codec = SimpleNamespace(name="h264")
        self.colorspace = frames[0].colorspace
        self.color_range = frames[0].color_range

    def decode(self, packet: Any) -> list[VideoFrame]:
        frame = next(self._frames).reformat(format=self._semi_planar)
        frame.colorspace, frame.color_range = 2, 0
        return [frame]


@pytest.mark.parametrize(("planar", "semi_planar"), [("yuv420p", "nv12"), ("yuv420p10le", "p010le")])
@pytest.mark.parametrize("matrix", [1, 5])
@pytest.mark.parametrize("full", [1, 2])
def test_downloaded_frames_are_converted_as_those_of_the_cpu(
    planar: str, semi_planar: str, matrix: int, full: int
) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (64, 96, 3), np.uint8)
    frame = VideoFrame.from_ndarray(noise, format="rgb24").reformat(format=planar)
    frame.colorspace, frame.color_range, frame.pts = matrix, full, 5
    context: Any = Downloads([frame], semi_planar)
    (downloaded,) = DeviceContext(context).decode()
    assert (downloaded.format.name, downloaded.pts) == (planar, 5)
    assert np.array_equal(downloaded.to_ndarray(format="rgb24"), frame.to_ndarray(format="rgb24"))


class Refuses:
    """A decoder that gives out ``frames`` frames and then fails."""

    def __init__(self, frames: int) -> None:
        self._answers: Iterator[list[VideoFrame]] = iter([[VideoFrame(16, 16, "yuv420p")]] * frames)
        self.codec = SimpleNamespace(name="h264")

    def decode(self, packet: Any) -> list[VideoFrame]:
        for answer in self._answers:
            return answer
        raise av.error.InvalidDataError(1, "Invalid data found")


def test_a_stream_that_the_device_refuses_is_said_so() -> None:
    refuses: Any = Refuses(0)
    with pytest.raises(HardwareError, match="does not decode this h264 stream"):
        DeviceContext(refuses).decode()


def test_damage_after_the_first_frame_stays_damage() -> None:
    refuses: Any = Refuses(1)
    context = DeviceContext(refuses)
    assert len(context.decode()) == 1
    with pytest.raises(av.error.InvalidDataError):
        context.decode()


@with_device
@pytest.mark.parametrize("codec", ["av1", "h264", "hevc"])
@pytest.mark.parametrize("pix_fmt", ["yuv420p", "yuv420p10le"])
def test_the_device_gives_the_pixels_of_the_cpu(clip_cache: ClipCache, codec: str, pix_fmt: str) -> None:
    if (codec, pix_fmt) == ("h264", "yuv420p10le"):
        pytest.skip("NVDEC decodes 10 bits of H.264 from Blackwell on only")
    # NVDEC's least size is 144x144
    spec = ClipSpec(codec=codec, width=256, height=256, pix_fmt=pix_fmt, rate=Fraction(20))
    clip = clip_cache.clip(spec)
    frames = decode_video_frames(clip.path, frame_indices=INDICES, device="cuda")
    apart = np.abs(frames.astype(int) - decode_video_frames(clip.path, frame_indices=INDICES))
    assert apart.max() <= TOLERANCE
    assert clip.read(frames, INDICES) == INDICES


@with_device
def test_a_decoder_is_on_the_device(h264: Clip) -> None:
    with av.open(h264.path) as container:
        assert decoder_for(container.streams.video[0], cuda("cuda:0")).is_hwaccel
