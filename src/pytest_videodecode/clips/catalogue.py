"""Named clips, each awkward in its own way."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from pytest_videodecode.clips.rules import CODECS
from pytest_videodecode.errors import OptionError
from pytest_videodecode.model import ClipSpec

#: The container of each codec's default clip.
_CONTAINER = {"vp9": "webm"}


def _default(codec: str) -> ClipSpec:
    return ClipSpec(codec=codec, container=_CONTAINER.get(codec, "mp4"))


CATALOGUE: dict[str, ClipSpec] = {
    **{codec: _default(codec) for codec in CODECS},
    "h264-bframes": ClipSpec(codec="h264", bframes=2),
    "h264-bframes-mkv": ClipSpec(codec="h264", bframes=2, container="mkv"),
    "h264-bframes-ts": ClipSpec(codec="h264", bframes=2, container="ts"),
    "h264-bframes-avi": ClipSpec(codec="h264", bframes=2, container="avi"),
    "mpeg4-bframes-avi": ClipSpec(codec="mpeg4", bframes=2, container="avi"),
    "hevc-bframes": ClipSpec(codec="hevc", bframes=3),
    "h264-open-gop": ClipSpec(codec="h264", bframes=2, open_gop=True, gop=12),
    "hevc-open-gop": ClipSpec(codec="hevc", bframes=3, open_gop=True, gop=12),
    "av1-fragmented": ClipSpec(codec="av1", fragmented=True),
    "h264-fragmented": ClipSpec(codec="h264", fragmented=True, bframes=2),
    "av1-moov-at-end": ClipSpec(codec="av1", faststart=False),
    "av1-start": ClipSpec(codec="av1", start=Fraction(10)),
    "h264-start": ClipSpec(codec="h264", start=Fraction(10), bframes=2),
    "av1-variable-rate": ClipSpec(codec="av1", variable_rate=True),
    "h264-variable-rate": ClipSpec(codec="h264", variable_rate=True, bframes=2),
    "av1-29.97": ClipSpec(codec="av1", rate=Fraction(30000, 1001)),
    "av1-mkv": ClipSpec(codec="av1", container="mkv", rate=Fraction(30000, 1001)),
    "av1-long-gop": ClipSpec(codec="av1", gop=250, frames=300),
    "h264-long-gop": ClipSpec(codec="h264", gop=250, frames=300),
    "av1-10bit": ClipSpec(codec="av1", pix_fmt="yuv420p10le"),
    "h264-10bit": ClipSpec(codec="h264", pix_fmt="yuv420p10le"),
    "hevc-10bit": ClipSpec(codec="hevc", pix_fmt="yuv420p10le"),
    "vp9-odd-size": ClipSpec(codec="vp9", container="webm", width=161, height=97),
    "mpeg4-odd-size": ClipSpec(codec="mpeg4", width=161, height=97),
    "h264-odd-size-444": ClipSpec(codec="h264", pix_fmt="yuv444p", width=161, height=97),
    "av1-audio": ClipSpec(codec="av1", audio=True),
    "vp9-audio": ClipSpec(codec="vp9", container="webm", audio=True),
    "h264-audio-ts": ClipSpec(codec="h264", container="ts", audio=True, start=Fraction(10)),
    "mpeg4-audio-avi": ClipSpec(codec="mpeg4", container="avi", audio=True),
}


def specs_for(codecs: Iterable[str]) -> list[ClipSpec]:
    """The default spec of each of ``codecs``, in this order.

    Raises:
        OptionError: naming an unknown codec and those that are known.
    """
    specs = []
    for codec in codecs:
        if codec not in CODECS:
            raise OptionError(f"unknown codec {codec!r}; known are {', '.join(CODECS)}")
        specs.append(_default(codec))
    return specs
