"""The encoders that make clips, best first for each codec, and their options.

Every thread count is pinned: libx264's output depends on it, and a clip must not depend on the host's cores.
Options are FFmpeg's own, so that PyAV and FFmpeg's command line take the same ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pytest_videodecode.clips.rules import CODECS
from pytest_videodecode.model import ClipSpec


@dataclass(frozen=True, slots=True)
class Encoder:
    """An encoder by FFmpeg's name, with the options that make it follow a spec exactly."""

    name: str
    options: Callable[[ClipSpec], dict[str, str]]
    force_keyframes: bool = False  # its own GOP is inexact, so each keyframe is asked for


def options(encoder: Encoder, spec: ClipSpec) -> dict[str, str]:
    """All options of ``encoder`` for ``spec``; scene-cut detection is off, so that the GOP is exact."""
    return {"threads": "1", "g": str(spec.gop), "bf": str(spec.bframes), **encoder.options(spec)}


def _quality(spec: ClipSpec) -> str:
    return str(CODECS[spec.codec].default_quality if spec.quality is None else spec.quality)


def _svt_av1(spec: ClipSpec) -> dict[str, str]:
    # Preset 8: from 10 on, SVT-AV1 warns of visual artefacts and now and then blurs a mark beyond reading.
    return {"preset": "8", "crf": _quality(spec), "svtav1-params": "lp=1:scd=0"}


def _aom(spec: ClipSpec) -> dict[str, str]:
    fixed = {"keyint_min": str(spec.gop), "b": "0", "row-mt": "0"}
    return {"cpu-used": "8", "crf": _quality(spec), **fixed}


def _x264(spec: ClipSpec) -> dict[str, str]:
    params = f"open-gop={int(spec.open_gop)}:scenecut=0:b-adapt=0"
    return {"preset": "veryfast", "crf": _quality(spec), "x264-params": params}


def _x265(spec: ClipSpec) -> dict[str, str]:
    params = (
        f"keyint={spec.gop}:min-keyint={spec.gop}:scenecut=0:open-gop={int(spec.open_gop)}"
        f":bframes={spec.bframes}:b-adapt=0:rc-lookahead={spec.bframes + 5}:pools=none:frame-threads=1:log-level=none"
    )
    return {"preset": "ultrafast", "crf": _quality(spec), "x265-params": params}


def _vp9(spec: ClipSpec) -> dict[str, str]:
    fixed = {"keyint_min": str(spec.gop), "b": "0", "row-mt": "0"}
    return {"deadline": "good", "cpu-used": "5", "crf": _quality(spec), **fixed}


def _mpeg4(spec: ClipSpec) -> dict[str, str]:
    # cgop: without it B-frames before a keyframe lean on it, and with it the encoder shortens the GOP to fit them,
    # so the GOP is left at its longest and keyframes are forced. The threshold is scene-cut detection, off.
    fixed = {"flags": "+cgop", "g": "600", "sc_threshold": "1000000000", "b_strategy": "0"}
    return {"qmin": _quality(spec), "qmax": _quality(spec), **fixed}


ENCODERS: dict[str, tuple[Encoder, ...]] = {
    "av1": (Encoder("libsvtav1", _svt_av1), Encoder("libaom-av1", _aom)),
    "h264": (Encoder("libx264", _x264),),
    "mpeg4": (Encoder("mpeg4", _mpeg4, force_keyframes=True),),
    "hevc": (Encoder("libx265", _x265),),
    "vp9": (Encoder("libvpx-vp9", _vp9),),
}
