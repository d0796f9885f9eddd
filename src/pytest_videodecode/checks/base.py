"""What a check is handed, and how it says what it found."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pytest_videodecode.damage.damage import Damage
from pytest_videodecode.errors import (
    DecoderContractError,
    DecoderSpecError,
    LoaderSpecError,
    Unsupported,
    VideodecodeError,
    WorkerError,
)
from pytest_videodecode.jsonform import to_json
from pytest_videodecode.model import Clip, ClipSpec, DecodeRequest, DecoderInfo, ErrorInfo, Outcome, Status, Verdict

#: Thread counts of the parity experiment this package grew from; 0 is FFmpeg's automatic choice.
DEFAULT_THREADS = (0, 1, 2, 4)

#: What a damaged file may raise. PyAV's own base of all its errors is ``av.error.FFmpegError``.
ALLOWED_ERRORS = ("av.error.FFmpegError", "ValueError", "RuntimeError", "IndexError", "EOFError", "OSError")

#: How many sentences a verdict's evidence lists; the first one is its reason.
MAX_LISTED = 8

#: Errors of this package that decide a verdict by themselves, whichever check met them.
SETTLED_BY: Mapping[type[VideodecodeError], Status] = {
    DecoderContractError: Status.FAILED,
    Unsupported: Status.UNSUPPORTED,
    WorkerError: Status.ERROR,
    DecoderSpecError: Status.ERROR,
    LoaderSpecError: Status.ERROR,
}


@dataclass(frozen=True, kw_only=True)
class Subject:
    """One decoder, one clip, and the way to ask: everything a check may use.

    ``decode`` never raises for what a decoder does; whatever happens comes back as an ``Outcome``. ``twin`` asks a
    second decoder, where the run names one to compare with. ``variant`` makes another clip from a recipe, ``damaged``
    writes a damaged copy of a clip and returns its path. ``allowed_errors`` are qualified names (``av.FFmpegError``)
    or names of builtins: an error whose classes include one of them may come of a damaged file.
    """

    decoder: DecoderInfo
    clip: Clip
    decode: Callable[[DecodeRequest], Outcome]
    threads: Sequence[int] = DEFAULT_THREADS
    seed: int = 0
    twin: Callable[[DecodeRequest], Outcome] | None = None
    variant: Callable[[ClipSpec], Clip] | None = None
    damaged: Callable[[Clip, Damage], str] | None = None
    allowed_errors: Sequence[str] = ALLOWED_ERRORS


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


@dataclass(slots=True)
class Faults:
    """What a check found so far, one sentence each: held against the decoder, or only reported."""

    sentences: list[str] = field(default_factory=list)
    reported: list[str] = field(default_factory=list)
    request: DecodeRequest | None = None

    def __bool__(self) -> bool:
        return bool(self.sentences)

    def add(self, sentence: str, request: DecodeRequest, *, judged: bool = True) -> None:
        """One more thing found; ``judged`` False reports it without failing the check."""
        if not judged:
            self.reported.append(sentence)
            return
        if not self.sentences:
            self.request = request
        self.sentences.append(sentence)

    def finding(self, **evidence: Any) -> Finding:
        """Failed with the first sentence as the reason, or passed where there is none."""
        if self.reported:
            evidence["not_judged"] = self.reported[:MAX_LISTED]
            evidence["not_judged_in_all"] = len(self.reported)
        if not self:
            return passed(**evidence)
        more = len(self.sentences) - 1
        return failed(
            self.sentences[0] + (f"; {more} more wrong" if more else ""),
            **evidence,
            wrong=self.sentences[:MAX_LISTED],
            wrong_in_all=len(self.sentences),
            request=to_json(self.request),
        )


def run(check: Check, subject: Subject) -> Verdict:
    """``check`` on ``subject`` as a verdict, with the number of requests that it made in the evidence.

    An outcome that carries one of the errors in ``SETTLED_BY`` ends the check with that verdict. What the check
    itself raises is a fault of this package and passes through.
    """
    requests = 0

    def decode(request: DecodeRequest) -> Outcome:
        nonlocal requests
        requests += 1
        outcome = subject.decode(request)
        if outcome.error and (status := settled(outcome.error)):
            raise _Settled(Finding(status=status, reason=one_line(outcome.error.message)))
        return outcome

    try:
        finding = check(dataclasses.replace(subject, decode=decode))
    except _Settled as end:
        finding = end.finding
    return Verdict(
        check=check.__name__,
        decoder=subject.decoder.name,
        clip=subject.clip.name,
        status=finding.status,
        reason=finding.reason,
        evidence={**(finding.evidence or {}), "requests": requests},
    )


class _Settled(Exception):
    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.reason)
        self.finding = finding


def settled(error: ErrorInfo) -> Status | None:
    """The verdict that an error of this package decides by itself; None for any other error."""
    for kind, status in SETTLED_BY.items():
        # by qualified name: a decoder may well have an Unsupported of its own
        if f"{kind.__module__}.{kind.__qualname__}" in error.bases:
            return status
    return None


def one_line(text: object, limit: int = 300) -> str:
    """``text`` without line breaks and no longer than ``limit`` characters."""
    line = " ".join(str(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
