"""A damaged clip is told of by its name, and costs its own samples at most."""

from __future__ import annotations

import dataclasses

from pytest_videodecode.checks.base import Finding, failed, one_line, passed
from pytest_videodecode.checks.loaders.base import DamagedSet, LoaderSubject, listed, pictures
from pytest_videodecode.loading import Loaded


def damaged_clip(subject: LoaderSubject) -> Finding:
    """Read a data set with one damaged mp4, by each policy (``on_damage``) that the loader has, or by its only one.

    An error must name the file. Without an error every sample of the other files must come, and what is left out must
    be said, with the file, in a warning or on standard error; a picture may be spoilt, but none may be another's.
    """
    damaged, subject = subject.damaged(), dataclasses.replace(subject, truth=subject.several())
    policies = ("raise", "skip") if "on_damage" in subject.load(subject.request()).takes else (None,)
    outcomes = {}
    for policy in policies:
        loaded = subject.load(subject.request(root=damaged.root, on_damage=policy))
        way = f"with on_damage={policy}" if policy else "as it is"
        if fault := _fault(subject, damaged, loaded, policy):
            return failed(f"{damaged.file} is damaged; read {way}: {fault}", log=loaded.log[-2000:])
        outcomes[way] = one_line(loaded)
    return passed(damaged=damaged.file, **{way.replace(" ", "_"): came for way, came in outcomes.items()})


def _fault(subject: LoaderSubject, damaged: DamagedSet, loaded: Loaded, policy: str | None) -> str:
    wrong = [str(p) for p in pictures(subject, loaded.samples) if p.inside and p.shown not in (p.right, None)]
    if wrong:
        return f"{wrong[0]}" + (f"; {len(wrong) - 1} more wrong" if len(wrong) > 1 else "")
    if loaded.error:
        if policy == "skip":
            return f"asked to skip it, got {loaded}"
        said = f"{loaded.error.message}\n{loaded.error.traceback}"
        return "" if _names(damaged, said) else f"got {loaded}, which does not name the file"
    if not loaded.whole:
        return f"got {loaded}"
    if policy == "raise":
        return f"asked to raise, got {loaded} and no error"
    came = {sample.key for sample in loaded.samples}
    if lost := [key for key in subject.truth.samples() if key not in came and key[0] not in damaged.episodes]:
        return f"{len(lost)} samples of other files never came, with no error: {listed(lost)}"
    if not _names(damaged, loaded.log):
        return f"got {loaded} and no word of the file"
    return ""


def _names(damaged: DamagedSet, text: str) -> bool:
    """Whether one line has the file by its path, or by its camera and its own name."""
    name = damaged.file.rpartition("/")[2]
    return any(name in line and damaged.camera in line for line in text.splitlines())
