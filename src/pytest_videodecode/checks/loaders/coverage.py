"""One epoch has every sample exactly once."""

from __future__ import annotations

from pytest_videodecode.checks.base import Finding, failed, passed
from pytest_videodecode.checks.loaders.base import LoaderSubject, once_each


def sample_coverage(subject: LoaderSubject) -> Finding:
    """Read one epoch in the main process, and count samples by the episode and frame that they say they are."""
    loaded = subject.load(subject.request())
    if wrong := once_each(subject, [loaded]):
        return failed(f"asked {subject.truth.frames} samples, each once, got: {wrong}")
    return passed(samples=len(loaded.samples))
