from __future__ import annotations

from pathlib import Path

import pytest
from planted import toy_clip

from pytest_videodecode.checks.damage_set import FLIPS, KEPT, damage_set
from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.clips.catalogue import CATALOGUE
from pytest_videodecode.damage.damage import OPERATORS, damaged_bytes
from pytest_videodecode.damage.mapping import read_bytes
from pytest_videodecode.damage.operators import Scatter, Truncate
from pytest_videodecode.errors import DamageError
from pytest_videodecode.model import ClipSpec

CLIPS = ["av1", "h264", "mpeg4", "vp9", "h264-bframes-ts", "h264-bframes-avi", "av1-mkv", "h264-fragmented"]


@pytest.mark.parametrize("name", CLIPS)
def test_every_operator_is_there_and_fits(clip_cache: ClipCache, name: str) -> None:
    clip = clip_cache.clip(CATALOGUE[name])
    damages = damage_set(clip, seed=3)
    assert {damage.operators[0].op for damage in damages} == set(OPERATORS)
    whole = read_bytes(clip)
    same = [damage for damage in damages if damaged_bytes(clip, damage, clip_cache) == whole]
    assert len(same) <= 2  # a stretch that is zeroed may be zero already


def test_set_has_the_two_damages_of_the_experiment(clip_cache: ClipCache) -> None:
    operators = [damage.operators[0] for damage in damage_set(clip_cache.clip(ClipSpec()), seed=0)]
    assert any(isinstance(one, Scatter) and (one.count, one.region) == (FLIPS, "media") for one in operators)
    assert Truncate(keep_fraction=KEPT) in operators


def test_one_seed_is_one_set(clip_cache: ClipCache) -> None:
    clip = clip_cache.clip(ClipSpec())
    assert damage_set(clip, 5) == damage_set(clip, 5)
    assert damage_set(clip, 5) != damage_set(clip, 6)


def test_regions_differ(clip_cache: ClipCache) -> None:
    damages = damage_set(clip_cache.clip(ClipSpec()), seed=0)
    regions = {getattr(damage.operators[0], "region", "").partition(":")[0] for damage in damages}
    assert regions >= {"media", "any", "keyframes", "after_first", "index", "header", "packet"}


@pytest.mark.parametrize("content", [b"\0", b"not a video at all", bytes(5000)])
def test_file_that_cannot_be_mapped_is_damaged_as_bytes(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "clip.mp4"
    path.write_bytes(content)
    clip = toy_clip(8, path=str(path), name="real.mp4")
    damages = damage_set(clip, seed=0)
    assert damages
    assert all(isinstance(damaged_bytes(clip, damage), bytes) for damage in damages)


def test_empty_file_cannot_be_damaged(tmp_path: Path) -> None:
    path = tmp_path / "clip.mp4"
    path.touch()
    with pytest.raises(DamageError, match="an empty file"):
        damage_set(toy_clip(8, path=str(path)), seed=0)
