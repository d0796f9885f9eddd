"""Every picture of a sample is the one asked: right episode, right camera, right frame, read off the pixels."""

from __future__ import annotations

from collections.abc import Callable

from pytest_videodecode.checks.base import Finding, failed
from pytest_videodecode.checks.loaders.base import LoaderSubject, judged, pictures, shapes


def sample_identity(subject: LoaderSubject) -> Finding:
    """Look at every picture that lies inside its episode, of the episodes in each camera's first mp4."""
    first = subject.truth.spec.video_groups[0]
    return _identity(subject, lambda episode: episode in first, "pictures of the first mp4 files")


def file_boundary(subject: LoaderSubject) -> Finding:
    """The same of the episodes that lie in a camera's further mp4 files, where times and frames start anew."""
    first = subject.truth.spec.video_groups[0]
    return _identity(subject, lambda episode: episode not in first, "pictures of further mp4 files")


def _identity(subject: LoaderSubject, among: Callable[[int], bool], what: str) -> Finding:
    loaded = subject.load(subject.request())
    if wrong := shapes(subject, loaded.samples):
        return failed(wrong)
    seen = [p for p in pictures(subject, loaded.samples) if p.inside and among(p.sample[0])]
    return judged(loaded, [str(p) for p in seen if p.shown != p.right], len(seen), what)
