"""Shared by all tests: pytest in pytest, and the real files that live outside the repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_videodecode.clips.cache import ClipCache

pytest_plugins = ["pytester"]

REAL = Path(os.environ.get("VIDEODECODE_REAL", Path(__file__).parents[2] / "shared" / "real"))


@pytest.fixture(scope="session")
def real_clips() -> Path:
    """The folder of real files with its MANIFEST.tsv; ``VIDEODECODE_REAL`` points elsewhere."""
    if not (REAL / "MANIFEST.tsv").is_file():
        pytest.skip("the real files are absent (set VIDEODECODE_REAL to their folder)")
    return REAL


@pytest.fixture(scope="session")
def clip_cache() -> ClipCache:
    """The cache that the plugin itself uses, so that a second run of the tests encodes nothing."""
    return ClipCache()
