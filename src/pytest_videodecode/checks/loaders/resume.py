"""An epoch that is taken up again goes on where it was left."""

from __future__ import annotations

from pytest_videodecode.checks.base import Finding, failed, passed, unsupported
from pytest_videodecode.checks.loaders.base import LoaderSubject, first_difference, listed


def resume(subject: LoaderSubject) -> Finding:
    """Take the state after a third of the samples, give it to a new loader, and compare with an epoch in one go."""
    whole = subject.load(subject.request())
    if not whole.resumes:
        return unsupported("it has no state_dict and load_state_dict")
    if not whole.whole:
        return failed(f"in one go: {whole}")
    at = subject.truth.frames // 3
    resumed = subject.load(subject.request(resume_at=at))
    if not resumed.whole:
        return failed(f"resumed at sample {at}: {resumed}")
    before, after = [sample.key for sample in resumed.samples[:at]], [sample.key for sample in resumed.samples[at:]]
    every = set(subject.truth.samples())
    faults = {
        "came again": sorted(set(before) & set(after)),
        "were lost": sorted(every - {*before, *after}),
    }
    if wrong := "; ".join(f"{len(keys)} samples {what}: {listed(keys)}" for what, keys in faults.items() if keys):
        return failed(f"resumed at sample {at}: asked the rest of the epoch, got: {wrong}")
    if (keys := [*before, *after]) != (asked := [sample.key for sample in whole.samples]):
        return failed(f"resumed at sample {at}: {first_difference(asked, keys)}; the state lacks the order")
    return passed(resumed_at=at)
