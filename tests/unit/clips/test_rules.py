from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from pytest_videodecode.clips.rules import require_usable
from pytest_videodecode.errors import ClipError
from pytest_videodecode.model import ClipSpec

UNUSABLE: list[tuple[dict[str, Any], str]] = [
    ({"codec": "prores"}, r"unknown codec 'prores'; known are av1, h264, mpeg4, hevc, vp9"),
    ({"container": "mov"}, r"unknown container 'mov'; known are mp4, mkv"),
    ({"codec": "h264", "container": "webm"}, r"webm cannot hold h264; it holds av1, vp9"),
    ({"container": "ts"}, r"ts cannot hold av1; it holds h264, mpeg4, hevc"),
    ({"bframes": 2}, r"2 B-frames are not possible; av1 takes 0 to 0"),
    ({"codec": "h264", "bframes": 9}, r"h264 takes 0 to 8"),
    ({"codec": "h264", "bframes": 3, "gop": 3}, r"do not fit a GOP of 3"),
    ({"codec": "h264", "bframes": 3, "frames": 4}, r"3 B-frames need 5 frames at least, not 4"),
    ({"open_gop": True}, r"an open GOP needs h264 or hevc with at least one B-frame"),
    ({"codec": "hevc", "open_gop": True}, r"with at least one B-frame"),
    ({"codec": "hevc", "open_gop": True, "bframes": 2, "gop": 48}, r"shows in more than 50 frames"),
    ({"width": 128}, r"128x128 is not possible; the frame mark needs 160x96, and 4096 is the longest side"),
    ({"height": 64}, r"192x64 is not possible"),
    ({"width": -192}, r"-192x128 is not possible"),
    ({"width": 4098}, r"4098x128 is not possible"),
    ({"width": 193}, r"av1 in yuv420p needs even sides; odd ones are possible with h264 \(yuv444p"),
    ({"codec": "h264", "height": 97}, r"h264 in yuv420p needs even sides"),
    ({"frames": 0}, r"0 frames are not possible; give 1 to 4096"),
    ({"frames": -1}, r"-1 frames"),
    ({"frames": 4097}, r"4097 frames"),
    ({"frames": 4096, "width": 1280, "height": 720}, r"more than 2,000,000,000 pixels"),
    ({"gop": 0}, r"a GOP of 0 frames is not possible; av1 takes 1 to 4096"),
    ({"codec": "mpeg4", "gop": 601}, r"mpeg4 takes 1 to 600"),
    ({"rate": Fraction(0)}, r"a rate of 0 is not possible"),
    ({"rate": Fraction(-30)}, r"a rate of -30 is not possible"),
    ({"rate": Fraction(999_999, 33_334)}, r"such as 30 or 30000/1001"),
    ({"start": Fraction(-1)}, r"a start of -1 s is not possible"),
    ({"start": Fraction(1, 999_983)}, r"fits no time base with 30 frames a second"),
    ({"codec": "h264", "container": "avi", "variable_rate": True}, r"avi stores no times"),
    ({"codec": "mpeg4", "container": "avi", "start": Fraction(1)}, r"avi stores no times"),
    ({"container": "mkv", "fragmented": True}, r"are of mp4 only"),
    ({"container": "mkv", "faststart": False}, r"are of mp4 only"),
    ({"pix_fmt": "yuv444p"}, r"av1 cannot have the pixel format 'yuv444p'; use yuv420p, yuv420p10le"),
    ({"quality": 64}, r"a quality of 64 is not possible; av1 takes 0 \(best\) to 63"),
    ({"codec": "mpeg4", "quality": 0}, r"mpeg4 takes 1 \(best\) to 31"),
    ({"texture": -1}, r"a texture seed of -1 is not possible"),
]


@pytest.mark.parametrize(("fields", "message"), UNUSABLE)
def test_unusable_spec_is_refused_in_one_line_that_says_what_is_possible(fields: dict[str, Any], message: str) -> None:
    spec = ClipSpec(**fields)
    with pytest.raises(ClipError, match=message) as caught:
        require_usable(spec)
    assert str(caught.value).startswith(f"clip {spec.name}: ")
    assert "\n" not in str(caught.value)


def test_bounds_themselves_are_usable() -> None:
    require_usable(ClipSpec(width=160, height=96, frames=1))
    require_usable(ClipSpec(width=160, height=96, frames=4096, gop=4096))
    require_usable(ClipSpec(width=4096, height=4096, frames=8))
