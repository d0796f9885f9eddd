"""A window that leaves its episode says so: flags are set on just those pictures, and none shows another episode."""

from __future__ import annotations

from pytest_videodecode.checks.base import Finding
from pytest_videodecode.checks.loaders.base import LoaderSubject, judged, pictures


def sample_padding(subject: LoaderSubject) -> Finding:
    """Compare the flags ``{camera}_is_pad`` with what lies inside the episode, for every picture."""
    loaded = subject.load(subject.request())
    seen = list(pictures(subject, loaded.samples))
    wrong = [
        f"{picture}; its flag is {picture.flag}, expected {not picture.inside}"
        for picture in seen
        if picture.flag is not (not picture.inside)
    ]
    return judged(loaded, wrong, len(seen), "pictures")


def episode_boundary(subject: LoaderSubject) -> Finding:
    """Look at what stands in for frames outside the episode: its own first or last frame, or a blank; no other's."""
    loaded = subject.load(subject.request())
    seen = [picture for picture in pictures(subject, loaded.samples) if not picture.inside]
    wrong = [
        f"{picture}; the episode has frames 0 to {picture.length - 1}"
        for picture in seen
        if picture.shown not in (picture.right, None)
    ]
    return judged(loaded, wrong, len(seen), "pictures outside their episode")
