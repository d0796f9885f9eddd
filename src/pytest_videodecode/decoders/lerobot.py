"""LeRobot's ``decode_video_frames``; the option ``backend`` picks the library that it decodes with."""

from __future__ import annotations

import inspect
from collections.abc import Mapping

from pytest_videodecode.decoders.base import LoadedDecoder
from pytest_videodecode.decoders.shapes import adapt


def make(options: Mapping[str, str]) -> LoadedDecoder:
    """Pixels are asked for as uint8 where this version of LeRobot has that choice."""
    from lerobot.datasets.video_utils import decode_video_frames

    has_uint8 = "return_uint8" in inspect.signature(decode_video_frames).parameters
    return adapt(decode_video_frames, "lerobot", {"return_uint8": "true", **options} if has_uint8 else options)
