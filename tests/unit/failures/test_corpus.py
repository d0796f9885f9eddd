from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import pytest_videodecode
from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.damage.damage import OPERATORS, damaged_bytes
from pytest_videodecode.damage.recipe import OutcomeClass, Recipe, read_recipe, write_recipe
from pytest_videodecode.errors import DamageError, Unsupported
from pytest_videodecode.failures import corpus
from pytest_videodecode.model import Clip, ClipSpec, OutcomeKind

SHIPPED = corpus.recipes()


def test_corpus_that_ships_has_every_operator_and_every_codec() -> None:
    recipes = [read_recipe(path) for path in SHIPPED]
    assert {operator.op for recipe in recipes for operator in recipe.damage.operators} == set(OPERATORS)
    assert {path.stem.partition("-")[0] for path in SHIPPED} == {"av1", "h264", "mpeg4", "hevc", "vp9"}
    assert all(recipe.note for recipe in recipes)
    assert len({recipe.id for recipe in recipes}) == len(recipes) >= 15


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_recipe_that_ships_damages_its_clip(path: Path, clip_cache: ClipCache) -> None:
    recipe = read_recipe(path)
    clip = corpus.clip_for(recipe, path, clip_cache)
    assert clip.name == recipe.clip
    assert damaged_bytes(clip, recipe.damage, clip_cache) != Path(clip.path).read_bytes()


def test_corpus_of_an_installed_package_lies_beside_its_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert corpus.packaged() == Path(pytest_videodecode.__file__).parents[2] / "fixtures" / "corpus"
    monkeypatch.setattr(pytest_videodecode, "__file__", str(tmp_path / "pytest_videodecode" / "__init__.py"))
    (tmp_path / "pytest_videodecode" / "_fixtures").mkdir(parents=True)
    assert corpus.packaged() == tmp_path / "pytest_videodecode" / "_fixtures" / "corpus"


def test_added_recipe_brings_its_clip_and_is_found_by_name(
    tmp_path: Path, clip_cache: ClipCache, recipe: Recipe
) -> None:
    clip = clip_cache.clip(ClipSpec(codec="h264", width=160, height=96, frames=9))
    came = OutcomeClass(kind=OutcomeKind.HANG)
    recipe = dataclasses.replace(Recipe.of(clip, recipe.damage, recipe.request, "pyav"), came=came)
    path = corpus.add(recipe, clip, tmp_path / "corpus", "mine", "it hung")
    assert path == tmp_path / "corpus" / "mine.json"
    added = read_recipe(path)
    assert dataclasses.replace(added, clip=clip.name, note="") == recipe
    assert added.note == "it hung"
    found = corpus.clip_for(added, path, clip_cache)
    assert Path(found.path).parent == tmp_path / "clips"
    assert damaged_bytes(found, added.damage) == damaged_bytes(clip, recipe.damage)
    assert corpus.recipes([tmp_path / "corpus"]) == [*SHIPPED, path]
    assert corpus.named("mine", [tmp_path / "corpus"]) == path
    assert corpus.named("nobodys", [tmp_path / "corpus"]) is None


def test_name_that_is_taken_is_refused(tmp_path: Path, recipe: Recipe, clip: Clip) -> None:
    first = corpus.add(recipe, clip, tmp_path / "corpus")
    assert first.name == f"mpeg4-{read_recipe(first).id}.json"
    with pytest.raises(DamageError, match="there already; give another name"):
        corpus.add(recipe, clip, tmp_path / "corpus")


def test_clip_is_committed_or_generated_or_real(
    tmp_path: Path, recipe: Recipe, clip: Clip, clip_cache: ClipCache
) -> None:
    path = write_recipe(recipe, tmp_path / "corpus" / "mine.json")
    with pytest.raises(Unsupported, match=r"the recipe is for mpeg4.avi, which is not here; put it into .*clips, or"):
        corpus.clip_for(recipe, path, clip_cache)
    real = corpus.clip_for(recipe, path, clip_cache, {"mpeg4.avi": Path(clip.path)})
    assert (real.path, real.spec) == (clip.path, None)
    generated = clip_cache.clip(ClipSpec(codec="h264", width=160, height=96, frames=9))
    assert corpus.clip_for(Recipe.of(generated, recipe.damage, recipe.request, "pyav"), path, clip_cache) == generated


def test_recipe_for_another_clip_of_that_name_is_said(recipe: Recipe, clip_cache: ClipCache) -> None:
    other = dataclasses.replace(recipe, sha256="0" * 64)
    with pytest.raises(DamageError, match=r"a recipe for clip mpeg4.avi \(sha256 000000000000\), not for mpeg4.avi"):
        corpus.clip_for(other, SHIPPED[0], clip_cache)
