"""A committed clip, and recipes for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_videodecode.damage.damage import Damage
from pytest_videodecode.damage.operators import FlipBytes
from pytest_videodecode.damage.recipe import Recipe
from pytest_videodecode.failures.committed import committed_clip
from pytest_videodecode.failures.corpus import CLIPS, packaged
from pytest_videodecode.model import Clip, DecodeRequest

FLIP = Damage((FlipBytes(flips=((5000, 255),)),))


@pytest.fixture(scope="session")
def clip() -> Clip:
    return committed_clip(packaged().parent / CLIPS / "mpeg4.avi")


@pytest.fixture
def recipe(clip: Clip) -> Recipe:
    return Recipe.of(clip, FLIP, DecodeRequest(path=clip.path, indices=(0, 1)), "pyav")


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    path = tmp_path / "copy.avi"
    path.write_bytes(b"damaged")
    return path
