"""What a check is handed, and how it says what it found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pytest_videodecode.model import Clip, DecodeRequest, DecoderInfo, Outcome, Status, Verdict

#: Thread counts of the parity experiment this package grew from; 0 is FFmpeg's automatic choice.
DEFAULT_THREADS = (0, 1, 2, 4)


@dataclass(frozen=True, kw_only=True)
class Subject:
    """One decoder, one clip, and the way to ask: everything a check may use.

    ``decode`` never raises for what a decoder does; whatever happens comes back as an ``Outcome``.
    """

    decoder: DecoderInfo
    clip: Clip
    decode: Callable[[DecodeRequest], Outcome]
    threads: Sequence[int] = DEFAULT_THREADS
    seed: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """What a check concluded, before it is put under the names of decoder and clip."""

    status: Status
    reason: str = ""
    evidence: Mapping[str, Any] | None = None


class Check(Protocol):
    """A thing that must hold of a decoder. Checks are functions; their name is the function's."""

    __name__: str

    def __call__(self, subject: Subject, /) -> Finding:
        """Ask, look, and say what was found."""


def passed(**evidence: Any) -> Finding:
    """The check holds."""
    return Finding(status=Status.PASSED, evidence=evidence)


def failed(reason: str, **evidence: Any) -> Finding:
    """The check does not hold; ``reason`` says what was asked, what came, what was expected."""
    return Finding(status=Status.FAILED, reason=reason, evidence=evidence)


def unsupported(reason: str, **evidence: Any) -> Finding:
    """The check cannot be made on this decoder or clip here; ``reason`` says why."""
    return Finding(status=Status.UNSUPPORTED, reason=reason, evidence=evidence)


def run(check: Check, subject: Subject) -> Verdict:
    """``check`` on ``subject`` as a verdict."""
    finding = check(subject)
    return Verdict(
        check=check.__name__,
        decoder=subject.decoder.name,
        clip=subject.clip.name,
        status=finding.status,
        reason=finding.reason,
        evidence=finding.evidence or {},
    )
