"""A file that ends too early gives right frames or an error, never fewer frames without a word.

FFmpeg reads Matroska, MPEG-TS and AVI to their end wherever that is: a file cut short ends as if it were whole (PyAV
18.1: 49, 51 and 50 of 90 frames of files cut at 60 %, no exception), so the reader has to notice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from pytest_videodecode.checks.asking import NO_WAY, SMALL_PIXELS, Ask, fits, ways
from pytest_videodecode.checks.base import Finding, Subject, unsupported
from pytest_videodecode.checks.damage_outcome import NO_COPIES, NO_FRAME
from pytest_videodecode.checks.damage_truth import Certain, certain
from pytest_videodecode.checks.damaged_answer import Inquiry
from pytest_videodecode.checks.patterns import WINDOW
from pytest_videodecode.clips.rules import CONTAINERS
from pytest_videodecode.damage.damage import Damage
from pytest_videodecode.damage.mapping import byte_map
from pytest_videodecode.damage.operators import Truncate
from pytest_videodecode.errors import Unsupported
from pytest_videodecode.model import Clip, ClipSpec

#: Containers that end cleanly wherever they are cut, as clip specs name them.
CUT_UNSEEN = ("mkv", "ts", "avi")

#: The same by the names of FFmpeg's demuxers.
_DEMUXERS = frozenset({"matroska,webm", "mpegts", "avi"})

#: How much of the file is kept; the cuts between two packets, the least to be seen, come on top.
_SHARES = (0.05, 0.35, 0.6, 0.9)


def silent_loss(subject: Subject) -> Finding:
    """Cut the clip in each such container at several places; ask for all of it, its tail, and the first lost frame."""
    if subject.variant is None or subject.damaged is None:
        return unsupported(NO_COPIES)
    if not subject.clip.frames:
        return unsupported(NO_FRAME)
    if subject.clip.spec is None and subject.clip.container not in _DEMUXERS:
        return unsupported(f"a file cut short in {subject.clip.container} is an error of FFmpeg's demuxer already")
    inquiry = Inquiry(subject)
    evidence: dict[str, Any] = {"containers": [], "not_made": {}}
    for clip in _clips(subject, evidence["not_made"]):
        container = clip.spec.container if clip.spec else clip.container
        if not (offered := ways(replace(subject, clip=clip))):
            evidence["not_made"][container] = NO_WAY
            continue
        evidence["containers"].append(container)
        for damage in _cuts(clip):
            path = subject.damaged(clip, damage)
            truth = certain(clip, damage, Path(path).read_bytes())
            for ask in _asks(clip, truth, offered):
                if not inquiry.ask(clip, ask, path, truth, f"{container}, {damage}"):
                    return inquiry.finding(**evidence)
    if not evidence["containers"]:
        return unsupported("; ".join(dict.fromkeys(evidence["not_made"].values())))
    return inquiry.finding(**evidence)


def _clips(subject: Subject, not_made: dict[str, str]) -> Iterator[Clip]:
    """The clip itself, or the clip in every container that takes its codec and is cut unseen."""
    spec = subject.clip.spec
    if spec is None or subject.variant is None:
        yield subject.clip
        return
    for container in CUT_UNSEEN:
        if spec.codec in CONTAINERS[container].codecs:
            try:
                yield subject.variant(_in(container, spec))
            except Unsupported as error:
                not_made[container] = str(error)


def _in(container: str, spec: ClipSpec) -> ClipSpec:
    spec = replace(spec, container=container, faststart=True, fragmented=False, audio=False)
    if not CONTAINERS[container].own_times:
        spec = replace(spec, start=Fraction(0), variable_rate=False)
    return spec


def _cuts(clip: Clip) -> Iterator[Damage]:
    packets = [packet for packet in byte_map(clip).packets if packet.ranges]
    between = [packets[at].ranges[0][0] for at in (len(packets) // 2, len(packets) - 1)] if len(packets) > 1 else []
    yield from (Damage((Truncate(keep_fraction=share),)) for share in _SHARES)
    yield from (Damage((Truncate(keep_bytes=size),)) for size in between)


def _asks(clip: Clip, truth: Certain, offered: tuple[str, ...]) -> Iterator[Ask]:
    by, jump_by = offered[0], offered[-1]
    most = fits(clip, SMALL_PIXELS)
    yield Ask("whole clip", tuple(range(min(most, clip.frames))), by)
    yield Ask("tail", tuple(range(max(0, clip.frames - min(WINDOW, most)), clip.frames)), jump_by)
    if truth.gone[by]:
        yield Ask("first lost frame", (min(truth.gone[by]),), by)
