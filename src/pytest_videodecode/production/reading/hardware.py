"""``device="cuda"``: the video streams of an open container decoded by NVDEC, the frames downloaded to host memory.

The container stays PyAV's own; only the decoder of its video streams is another one. ``av.open(hwaccel=…)`` will not
do: for AV1 it takes libdav1d, the first decoder that FFmpeg lists, which no hardware serves.

H.264, HEVC and AV1 define their pixels bit by bit, so NVDEC's are those of FFmpeg's decoders. But they come as NV12 or
P010, which swscale converts to RGB by another way (of noise, up to 73 of 255 apart); so they are first laid out as
planes, after which the conversion is the CPU's to the bit. ``TOLERANCE`` is what is promised nevertheless.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, cast

import av
from av.codec import Codec
from av.codec.context import CodecContext
from av.codec.hwaccel import HWAccel, HWDeviceType, hwdevices_available
from av.container import InputContainer
from av.packet import Packet
from av.video.codeccontext import VideoCodecContext
from av.video.frame import VideoFrame
from av.video.reformatter import VideoReformatter
from av.video.stream import VideoStream

from pytest_videodecode.production.errors import FrameRequestError, HardwareError

#: Largest difference from the CPU's answer that is allowed, in steps of 255.
TOLERANCE = 2

_DEVICE = re.compile(r"cuda(?::(\d{1,3}))?")

#: What NVDEC gives out, and the same samples as planes.
_PLANAR = {"nv12": "yuv420p", "p010le": "yuv420p10le"}

# The context that torch uses too; without it FFmpeg makes another one for each clip, of some hundred MB.
_OPTIONS = {"primary_ctx": "1"}

_ONE_THREAD: dict[str, Any] = {"threads": 1} if int(av.__version__.split(".")[0]) >= 17 else {}


def on_device(container: InputContainer, device: str) -> InputContainer:
    """``container`` with its video streams decoded on ``device``: ``cuda``, or ``cuda:N`` for the N-th one.

    On an error ``container`` is closed.

    Raises:
        FrameRequestError: a device that is not known.
        HardwareError: PyAV has no CUDA, no device or driver is there, or the codec has no decoder on it.
    """
    try:
        accelerator = cuda(device)
        return cast(InputContainer, DeviceContainer(container, accelerator))
    except BaseException:
        container.close()
        raise


def cuda(device: str) -> HWAccel:
    """The accelerator that ``device`` names; whether it is there shows when a decoder is opened.

    Raises:
        FrameRequestError: a device that is not known.
        HardwareError: PyAV has no CUDA.
    """
    named = _DEVICE.fullmatch(device)
    if named is None:
        raise FrameRequestError(f"device is {device[:40]!r}; give 'cpu', 'cuda' or 'cuda:N'")
    if "cuda" not in hwdevices_available():
        raise HardwareError(f"PyAV {av.__version__} is built without CUDA; install its wheel for Linux, or use 'cpu'")
    return HWAccel("cuda", device=named[1], allow_software_fallback=False, options=dict(_OPTIONS))


def decoder_for(stream: VideoStream, accelerator: HWAccel | None) -> VideoCodecContext:
    """A decoder of its own for ``stream``, on the accelerator's device; in software where that is None.

    Raises:
        HardwareError: no device or driver, or no decoder of this codec on it.
    """
    own = stream.codec_context
    codec = Codec(own.codec.canonical_name if accelerator else own.name, "r")
    if accelerator and not any(
        each.device_type == HWDeviceType.cuda and each.is_supported for each in codec.hardware_configs
    ):
        raise HardwareError(f"FFmpeg has no CUDA decoder for {codec.name}; decode it with device='cpu'")
    try:
        context = CodecContext.create(codec, "r", hwaccel=accelerator)
    except av.FFmpegError as error:
        raise HardwareError(
            f"no CUDA device can be used ({error.strerror}); see whether nvidia-smi lists one, or use device='cpu'"
        ) from None
    assert isinstance(context, VideoCodecContext)
    context.extradata = own.extradata
    context.width, context.height = own.width, own.height
    context.colorspace, context.color_range = (
        own.colorspace,
        own.color_range,
    )  # a container may say so, and not the codec
    return context


class DeviceContext:
    """A decoder whose frames lie in host memory, in planes."""

    def __init__(self, context: VideoCodecContext) -> None:
        self._context = context
        self._reformatter = VideoReformatter()
        self._proven = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def decode(self, packet: Packet[VideoStream] | None = None) -> list[VideoFrame]:
        """As PyAV's.

        Raises:
            HardwareError: the first frame does not come.
        """
        try:
            frames = self._context.decode(packet)
        except av.FFmpegError as error:
            if self._proven:
                raise
            raise HardwareError(
                f"the device does not decode this {self._context.codec.name} stream ({error.strerror}): its profile, "
                "pixel format or size may be beyond it, or the file damaged; device='cpu' tells which"
            ) from None
        self._proven = self._proven or bool(frames)
        return [self._in_planes(frame) for frame in frames]

    def _in_planes(self, frame: VideoFrame) -> VideoFrame:
        planar = _PLANAR.get(frame.format.name)
        if planar is None:
            return frame
        # a download keeps the pts only (PyAV 15), and RGB depends on these two
        frame.colorspace, frame.color_range = self._context.colorspace, self._context.color_range
        laid_out = self._reformatter.reformat(frame, format=planar, **_ONE_THREAD)
        laid_out.pts = frame.pts
        return laid_out


class DeviceStream:
    """A video stream with a decoder of its own, made when it is asked for: a cover picture needs none."""

    def __init__(self, stream: VideoStream, accelerator: HWAccel | None) -> None:
        self.stream = stream
        self._accelerator = accelerator
        self._context: DeviceContext | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    @property
    def codec_context(self) -> DeviceContext | None:
        """The decoder; None where FFmpeg has none at all for the codec."""
        if self._context is None and self.stream.codec_context:
            self._context = DeviceContext(decoder_for(self.stream, self._accelerator))
        return self._context

    def forget(self) -> None:
        """What the decoder was given no longer counts."""
        if self._context is not None:
            self._context.flush_buffers()

    def free(self) -> None:
        """The decoder goes."""
        self._context = None


class DeviceContainer:
    """A container as the reader uses it, whose video streams have decoders of their own."""

    def __init__(self, container: InputContainer, accelerator: HWAccel | None) -> None:
        self._container = container
        self.streams = _Streams([DeviceStream(each, accelerator) for each in container.streams.video])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._container, name)

    def seek(self, offset: int, *, stream: DeviceStream) -> None:
        """As PyAV's."""
        self._container.seek(offset, stream=stream.stream)
        stream.forget()

    def demux(self, stream: DeviceStream) -> Iterator[Packet[VideoStream]]:
        """As PyAV's."""
        return self._container.demux(stream.stream)

    def decode(self, stream: DeviceStream) -> Iterator[VideoFrame]:
        """As PyAV's, by the stream's own decoder."""
        context = stream.codec_context
        assert context is not None
        for packet in self.demux(stream):
            yield from context.decode(packet)

    def close(self) -> None:
        """Frees the decoders and closes the file."""
        for stream in self.streams.video:
            stream.free()
        self._container.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True)
class _Streams:
    video: list[DeviceStream]
