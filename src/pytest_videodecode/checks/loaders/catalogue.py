"""The checks of loaders by name, in running order."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pytest_videodecode.checks.loaders.base import LoaderCheck
from pytest_videodecode.checks.loaders.coverage import sample_coverage
from pytest_videodecode.checks.loaders.damaged_clip import damaged_clip
from pytest_videodecode.checks.loaders.determinism import seed_determinism
from pytest_videodecode.checks.loaders.identity import file_boundary, sample_identity
from pytest_videodecode.checks.loaders.padding import episode_boundary, sample_padding
from pytest_videodecode.checks.loaders.resume import resume
from pytest_videodecode.checks.loaders.workers import rank_split, start_methods, worker_parity

_IN_ORDER: tuple[LoaderCheck, ...] = (
    sample_coverage,
    sample_identity,
    file_boundary,
    sample_padding,
    episode_boundary,
    seed_determinism,
    worker_parity,
    start_methods,
    rank_split,
    resume,
    damaged_clip,
)

#: Every check of a loader by its name.
LOADER_CHECKS: Mapping[str, LoaderCheck] = MappingProxyType({check.__name__: check for check in _IN_ORDER})
