"""The answer: in which form it is wanted, and how a decoded frame gets into it with one copy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import av
import numpy as np
from av.video.frame import VideoFrame
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray

from pytest_videodecode.production.errors import FrameConversionError, FrameRequestError, OutputBufferError

# From 17 on PyAV starts a pool of its own for each conversion unless told not to; before, it has no such argument.
_ONE_THREAD = {"threads": 1} if int(av.__version__.split(".")[0]) >= 17 else {}

_WHITE = np.float32(255)


@dataclass(frozen=True)
class OutputForm:
    """What ``decode_video_frames`` shall return: ``output``, ``layout``, ``dtype`` and ``out`` as it takes them."""

    output: str
    layout: str
    dtype: str
    out: Any = None

    @classmethod
    def of(cls, output: str, layout: str | None, dtype: str, out: Any) -> OutputForm:
        """The form that these arguments describe.

        Raises:
            FrameRequestError: for a word that is none of the known.
        """
        for name, value, known in (
            ("output", output, ("numpy", "torch")),
            ("layout", layout, (None, "NHWC", "NCHW")),
            ("dtype", dtype, ("uint8", "float32")),
        ):
            if value not in known:
                words = " or ".join(repr(word) for word in known if word)
                raise FrameRequestError(f"{name} is {str(value)[:40]!r}; give {words}")
        return cls(output, layout or ("NHWC" if output == "numpy" else "NCHW"), dtype, out)

    @property
    def takes_memory(self) -> bool:
        """Whether memory that holds ``uint8 (N,H,W,3)`` already can be the answer."""
        return self.out is None and self.dtype == "uint8"

    def memory(self, count: int, height: int, width: int) -> NDArray[Any]:
        """Memory ``(N,H,W,3)`` to write the answer into: new, or ``out`` seen that way.

        Raises:
            OutputBufferError: ``out`` has another shape, type or kind.
        """
        if self.out is None:
            return np.empty((count, height, width, 3), self.dtype)
        shape = (count, height, width, 3) if self.layout == "NHWC" else (count, 3, height, width)
        array = _writable(self.out, self.output)
        if array.shape != shape or array.dtype != self.dtype:
            raise OutputBufferError(
                f"out is {array.dtype} {array.shape} and the answer {self.dtype} {shape}; give memory of that kind"
            )
        return array if self.layout == "NHWC" else array.transpose(0, 2, 3, 1)

    def answer(self, frames: NDArray[Any]) -> Any:
        """What to return of ``(N,H,W,3)``, the same memory; ``out`` itself where that was given."""
        if self.out is not None:
            return self.out
        laid = frames if self.layout == "NHWC" else frames.transpose(0, 3, 1, 2)
        if self.output == "numpy":
            return laid
        import torch

        return torch.from_numpy(laid)


def _writable(out: Any, output: str) -> NDArray[Any]:
    array = out
    if output == "torch":
        try:
            array = out.numpy()
        except (AttributeError, TypeError, RuntimeError) as error:
            raise OutputBufferError(
                f"out is no tensor that can be written to ({' '.join(str(error).split())[:80]}); give one on the CPU "
                "without gradient"
            ) from None
    if not isinstance(array, np.ndarray) or not array.flags.writeable:
        raise OutputBufferError(f"out is {type(out).__name__}, no writable array; give one, or set output='torch'")
    return array


class FrameBatch:
    """The answer as it fills. Frames of another size than ``width`` × ``height`` are scaled to it."""

    def __init__(self, file: str, count: int, width: int, height: int, form: OutputForm) -> None:
        self._file = file
        self._count = count
        self._width = width
        self._height = height
        self._form = form
        self._frames: NDArray[Any] | None = None

    @property
    def answer(self) -> Any:
        """What to return, once every frame was put."""
        assert self._frames is not None, "no frame was put"
        return self._form.answer(self._frames)

    def put(self, frame: VideoFrame, places: Sequence[int], reformatter: VideoReformatter) -> None:
        """Converts ``frame`` once and writes it to each of ``places``.

        Raises:
            FrameConversionError: FFmpeg refuses to.
            OutputBufferError: see ``OutputForm.memory``.
        """
        picture = self._convert(frame, reformatter)
        if self._frames is None:
            if self._count == 1 and self._form.takes_memory and picture.flags.c_contiguous:
                self._frames = picture[np.newaxis]
                return
            self._frames = self._form.memory(self._count, self._height, self._width)
        target = self._frames[places[0]]
        if target.dtype == np.uint8:
            target[...] = picture
        else:
            np.divide(picture, _WHITE, out=target)
        for other in places[1:]:
            self._frames[other] = target

    def _convert(self, frame: VideoFrame, reformatter: VideoReformatter) -> NDArray[np.uint8]:
        """``frame`` as ``(H,W,3)``: the memory of the converted frame, whose lines may be padded."""
        self._width, self._height = self._width or frame.width, self._height or frame.height
        try:
            converted = reformatter.reformat(frame, self._width, self._height, "rgb24", **_ONE_THREAD)
        except (av.FFmpegError, OSError, ValueError) as error:
            raise FrameConversionError(
                f"FFmpeg cannot convert the frame at pts {frame.pts} of {self._file} ({frame.format.name}, colour "
                f"matrix {int(frame.colorspace)}) to RGB: {error}"
            ) from None
        plane = converted.planes[0]
        return np.ndarray((self._height, self._width, 3), np.uint8, memoryview(plane), 0, (plane.line_size, 3, 1))
