"""A seek that fails is followed by a sequential decode that returns the same frames.

The failure is made twice: planted (every seek in the worker raises) and natural (a file object without ``seek``).
The planted one counts only when the worker saw the decoder run into it.
"""

from __future__ import annotations

import os

from pytest_videodecode.checks.asking import NO_WAY, Ask, ways
from pytest_videodecode.checks.base import Faults, Finding, Subject, unsupported
from pytest_videodecode.checks.compare import NO_ANSWER, change, wrong
from pytest_videodecode.checks.patterns import late_window
from pytest_videodecode.model import Clip, Outcome

#: PyAV reads a file object through a buffer of this many bytes, and seeks within it without asking the object.
IO_BUFFER = 32 << 10


def seek_fallback(subject: Subject) -> Finding:
    """Ask for a window in mid-stream with a seek that works, with one that is made to fail, and without any."""
    clip = subject.clip
    if not clip.frames:
        return unsupported("the clip shows no frame that could be sought")
    if not (offered := ways(subject)):
        return unsupported(NO_WAY)
    ask = late_window(clip, offered[0])
    faults = Faults()
    request = ask.request(clip, observe=True)
    sought = subject.decode(request)
    if sentence := wrong(clip, ask, sought):
        faults.add(f"before any seek was made to fail: {sentence}", request)
        return faults.finding()

    evidence: dict[str, object] = {"window": list(ask.frames)}
    request = ask.request(clip, observe=True, faults=("seek",))
    outcome = subject.decode(request)
    unproved = _unproved(outcome)
    evidence["planted"] = unproved or _seeks(outcome)
    if (outcome.kind in NO_ANSWER or not unproved) and (sentence := _fault(clip, ask, sought, outcome)):
        faults.add(f"with a failing seek: {sentence}", request)

    natural = _not_exercised(subject)
    if not natural and not faults:
        request = ask.request(clip, observe=True, open_as="unseekable")
        outcome = subject.decode(request)
        natural = _seeks(outcome)
        if sentence := _fault(clip, ask, sought, outcome):
            faults.add(f"with a file object that cannot seek: {sentence}", request)
    evidence["natural"] = natural or "not exercised: the planted failure was not survived"
    if unproved and not faults:
        return unsupported(unproved, **evidence)
    return faults.finding(**evidence)


def _fault(clip: Clip, ask: Ask, sought: Outcome, outcome: Outcome) -> str:
    if sentence := wrong(clip, ask, outcome):
        return sentence
    # in a damaged clip the way from the start may lead through damage that the way by the seek avoids
    found = change(clip, ask, sought, outcome) if clip.intact else None
    return found.sentence if found else ""


def _unproved(outcome: Outcome) -> str:
    """Why ``outcome`` does not prove that a seek failed; empty where it does."""
    observed = outcome.observed
    if observed is None:
        return "nothing could be observed inside this decoder's worker, so no seek was seen to fail"
    if observed.failed_seeks:
        return ""
    if observed.reason:
        return f"no seek could be seen to fail: {observed.reason}"
    if observed.seeks:
        return f"{observed.seeks} seeks were made and none could be made to fail"
    return "made no seek for a window in mid-stream, so there is nothing to fall back from"


def _seeks(outcome: Outcome) -> str:
    if outcome.observed is None or outcome.observed.reason:
        return "seeks could not be observed"
    return f"{outcome.observed.failed_seeks} of {outcome.observed.seeks} seeks failed"


def _not_exercised(subject: Subject) -> str:
    if "unseekable" not in subject.decoder.opens_as:
        return "not exercised: the decoder takes no file object"
    size = os.path.getsize(subject.clip.path)
    if size <= IO_BUFFER:
        return f"not exercised: the file of {size} bytes fits PyAV's buffer of {IO_BUFFER}"
    if index_last(subject.clip.path):
        return "not exercised: the index stands after the pictures, so nobody can read this file without seeking"
    return ""


def index_last(path: str) -> bool:
    """Whether ``path`` is an MP4 whose pictures (``mdat``) come before its index (``moov``).

    Source: ISO/IEC 14496-12, 4.2: a file is a row of boxes, each with its size (32 bits, or 64 after a 1; 0 reaches
    to the end) and type.
    """
    with open(path, "rb") as file:
        position = 0
        while len(head := file.read(16)) >= 8:
            size, kind = int.from_bytes(head[:4]), head[4:8]
            if not position and kind not in (b"ftyp", b"styp", b"moov", b"mdat", b"free", b"wide", b"skip"):
                return False
            if kind in (b"moov", b"moof"):
                return False
            if kind == b"mdat":
                return True
            size = int.from_bytes(head[8:]) if size == 1 else size
            if size < 8:
                return False
            position += size
            file.seek(position)
    return False
