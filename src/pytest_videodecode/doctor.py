"""What this machine can make, decode and measure; each finding is tried, not looked up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_videodecode.clips.catalogue import specs_for
from pytest_videodecode.clips.ffmpeg_cli import find
from pytest_videodecode.decoders.registry import REGISTERED
from pytest_videodecode.environment import environment
from pytest_videodecode.errors import VideodecodeError
from pytest_videodecode.isolation.census import HAS_PROC
from pytest_videodecode.model import DecodeRequest, OutcomeKind
from pytest_videodecode.options import Settings
from pytest_videodecode.session import Session

#: All codecs that clips can be generated in; those of the main job are needed.
CODECS = ("av1", "h264", "mpeg4", "hevc", "vp9")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing tried: what, whether it works, what there is to say, whether the main job needs it."""

    what: str
    good: bool
    said: str
    needed: bool = True


def examine() -> Iterator[Finding]:
    """Versions, encoders, decoders, isolation and what can be counted."""
    facts = environment()
    yield Finding("python", True, f"{facts['python']} on {facts['platform']}, {facts['cores']} cores")
    yield Finding("packages", True, ", ".join(f"{name} {version}" for name, version in facts["packages"].items()))
    yield Finding("ffmpeg libraries", True, ", ".join(f"{k} {v}" for k, v in facts["ffmpeg"].items()))
    try:
        yield Finding("ffmpeg command line", True, find())
    except VideodecodeError as error:
        yield Finding("ffmpeg command line", False, str(error))
    yield Finding("census", HAS_PROC, "OS threads by name" if HAS_PROC else "no /proc: threads by psutil's count only")
    with Session() as session:
        yield from _codecs(session)
        yield from _decoders(session)


def _codecs(session: Session) -> Iterator[Finding]:
    for spec in specs_for(CODECS):
        needed = spec.codec in Settings().codecs
        try:
            clip = session.clip(spec)
            outcome = session.decode("pyav", DecodeRequest(path=clip.path, indices=(0, clip.frames - 1)))
        except VideodecodeError as error:
            yield Finding(f"codec {spec.codec}", False, str(error), needed)
            continue
        good = outcome.kind is OutcomeKind.FRAMES and clip.read(outcome.frames, ()) == [0, clip.frames - 1]
        yield Finding(f"codec {spec.codec}", good, "makes and decodes a clip" if good else str(outcome), needed)


def _decoders(session: Session) -> Iterator[Finding]:
    for name in REGISTERED:
        try:
            info = session.info(name)
        except VideodecodeError as error:
            yield Finding(f"decoder {name}", False, str(error), name == "production")
            continue
        yield Finding(f"decoder {name}", True, ", ".join(f"{k} {v}" for k, v in info.versions.items()))
