"""The seed decides the order, and nothing else does."""

from __future__ import annotations

from pytest_videodecode.checks.base import Finding, failed, passed
from pytest_videodecode.checks.loaders.base import LoaderSubject, first_difference


def seed_determinism(subject: LoaderSubject) -> Finding:
    """Read an epoch twice, in two processes, without workers and with two; then with another seed."""
    for workers in (0, 2):
        asked = subject.request(workers=workers)
        first, again = subject.load(asked), subject.load(subject.request(workers=workers, again=1))
        for loaded in (first, again):
            if not loaded.whole:
                return failed(f"{asked}: {loaded}")
        keys, others = [sample.key for sample in first.samples], [sample.key for sample in again.samples]
        if keys != others:
            return failed(f"{asked}: {first_difference(keys, others)} the second time; seed an order of its own")
    base = subject.load(subject.request())
    if "seed" not in base.takes or len(base.samples) < 8:  # so few may well come in the same order by chance
        return passed(other_seed="not asked: the loader takes no seed")
    other = subject.load(subject.request(seed=subject.seed + 1))
    if [sample.key for sample in other.samples] == [sample.key for sample in base.samples]:
        return failed(f"seed {subject.seed + 1} gives the same order as seed {subject.seed}: the seed has no effect")
    return passed(other_seed="another order")
