"""Every picture of a sample is the one asked: right episode, right camera, right frame, read off the pixels."""

from __future__ import annotations

import dataclasses

from pytest_videodecode.checks.base import Finding, failed
from pytest_videodecode.checks.loaders.base import LoaderSubject, judged, once_each, pictures, shapes


def sample_identity(subject: LoaderSubject) -> Finding:
    """Look at every picture that lies inside its episode."""
    loaded = subject.load(subject.request())
    if wrong := shapes(subject, loaded.samples):
        return failed(wrong)
    seen = [picture for picture in pictures(subject, loaded.samples) if picture.inside]
    return judged(loaded, [str(picture) for picture in seen if picture.shown != picture.right], len(seen), "pictures")


def file_boundary(subject: LoaderSubject) -> Finding:
    """The same, and every sample once, where each camera has several mp4 files, in which times start anew."""
    several = dataclasses.replace(subject, truth=subject.several())
    if wrong := once_each(several, [several.load(several.request())]):
        return failed(f"asked {several.truth.frames} samples, each once, got: {wrong}")
    return sample_identity(several)
