"""Shared by all tests: pytest in pytest, and the real files that live outside the repository."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from real_files import ABSENT, REAL

from pytest_videodecode.clips.cache import ClipCache

pytest_plugins = ["pytester"]

#: Examples are run by tests/plugin/test_examples.py; some of them hang, which is their point.
collect_ignore = ["examples"]


@pytest.fixture(scope="session")
def real_clips() -> Path:
    """The folder of real files with its MANIFEST.tsv; ``VIDEODECODE_REAL`` points elsewhere."""
    if not (REAL / "MANIFEST.tsv").is_file():
        pytest.skip(ABSENT)
    return REAL


@pytest.fixture(scope="session")
def clip_cache() -> ClipCache:
    """The cache that the plugin itself uses, so that a second run of the tests encodes nothing."""
    return ClipCache()


@pytest.fixture
def new_children() -> Callable[[], list[psutil.Process]]:
    """The processes that this test has started and that are still there.

    The run around it may have warm workers of its own: the tests of real files use the plugin itself.
    """
    before = set(psutil.Process().children(recursive=True))
    return lambda: [child for child in psutil.Process().children(recursive=True) if child not in before]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """No test may hang the run; none comes near this."""
    if not config.pluginmanager.hasplugin("timeout"):
        return
    for item in items:
        if item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(300))
