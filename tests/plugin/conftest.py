"""Pytest in pytest, with the clips that are there already."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from inner_runs import InnerRuns

# pytester forgets the modules that a run in this process imported first; numpy, SciPy and PyAV stand no second import
import pytest_videodecode.doctor
import pytest_videodecode.session  # noqa: F401
from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.clips.store import ENVIRONMENT

with suppress(ImportError):
    import scipy.stats  # noqa: F401

SUPPORT = Path(__file__).parents[1] / "support"


@pytest.fixture
def inner(clip_cache: ClipCache, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> InnerRuns:
    """Runs of the plugin in a folder of their own; modules there, and those of tests/support, can be decoders."""
    monkeypatch.setenv(ENVIRONMENT, str(clip_cache.root))  # pytester moves HOME, where the cache would be sought
    monkeypatch.setenv("PYTHONPATH", str(SUPPORT))
    pytester.syspathinsert()
    return InnerRuns(pytester)
