"""However many processes read, by whichever start method, on however many ranks: together, each sample once."""

from __future__ import annotations

from pytest_videodecode.checks.base import Finding, failed, passed, unsupported
from pytest_videodecode.checks.loaders.base import LoaderSubject, once_each

WORKERS = (0, 1, 2, 4)
START_METHODS = ("fork", "spawn")


def worker_parity(subject: LoaderSubject) -> Finding:
    """Read an epoch with 0, 1, 2 and 4 workers."""
    for workers in WORKERS:
        if wrong := once_each(subject, [subject.load(subject.request(workers=workers))]):
            return failed(f"with {workers} workers: asked each sample once, got: {wrong}")
    return passed(workers=list(WORKERS))


def start_methods(subject: LoaderSubject) -> Finding:
    """Read an epoch with two workers that are forked, and with two that are spawned."""
    for method in START_METHODS:
        if wrong := once_each(subject, [subject.load(subject.request(workers=2, start_method=method))]):
            return failed(f"2 workers by {method}: asked each sample once, got: {wrong}")
    return passed(start_methods=list(START_METHODS))


def rank_split(subject: LoaderSubject) -> Finding:
    """Read an epoch as rank 0 and as rank 1 of two, as torchrun would start them, with one worker each."""
    ranks = [subject.load(subject.request(rank=rank, world_size=2, workers=1)) for rank in range(2)]
    if all(not once_each(subject, [rank]) for rank in ranks):
        return unsupported("every rank gets every sample: the loader leaves it to the trainer to split them")
    if wrong := once_each(subject, ranks):
        return failed(f"2 ranks with 1 worker each: asked each sample once on one of them, got: {wrong}")
    return passed(samples_by_rank=[len(rank.samples) for rank in ranks])
