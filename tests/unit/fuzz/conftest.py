"""A small committed clip; failures, damaged copies and examples in the folder of the test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from fake_decodes import FakeDecode

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.failures.committed import committed_clip
from pytest_videodecode.failures.corpus import CLIPS, packaged
from pytest_videodecode.failures.store import FailureStore
from pytest_videodecode.fuzz.trials import Trials
from pytest_videodecode.model import Clip, Outcome

Say = Callable[[bytes], Outcome | str]


@pytest.fixture(scope="session")
def clip() -> Clip:
    return committed_clip(packaged().parent / CLIPS / "mpeg4.avi")


@pytest.fixture
def store(tmp_path: Path) -> FailureStore:
    return FailureStore(tmp_path / "kept")


@pytest.fixture
def trials(tmp_path: Path, clip: Clip, clip_cache: ClipCache) -> Callable[[Say], Trials]:
    """Trials whose outcomes are what the function says of the bytes of the damaged file."""
    return lambda say: FakeDecode(clip, say).trials(clip, tmp_path / "copies", clip_cache)
