from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_videodecode.damage.damage import Damage
from pytest_videodecode.damage.operators import FlipBytes, Truncate
from pytest_videodecode.damage.recipe import (
    MAX_RECIPE,
    SCHEMA,
    OutcomeClass,
    Recipe,
    read_recipe,
    recipe_from_json,
    write_recipe,
)
from pytest_videodecode.errors import DamageError, FormError
from pytest_videodecode.jsonform import to_json
from pytest_videodecode.model import Clip, DecodeRequest, ErrorInfo, Outcome, OutcomeKind

DAMAGE = Damage((FlipBytes(flips=((0, 1),)), Truncate(keep_fraction=0.6)))
INVALID = OutcomeClass(kind=OutcomeKind.ERROR, error="InvalidDataError")


@pytest.fixture
def recipe(mp4: Clip) -> Recipe:
    request = DecodeRequest(path=mp4.path, indices=(3, 4), threads=2)
    return Recipe.of(mp4, DAMAGE, request, "pyav,thread_type=FRAME", note="a hang", came=INVALID)


def test_recipe_holds_what_a_replay_needs(recipe: Recipe, mp4: Clip) -> None:
    assert recipe.clip == mp4.name
    assert len(recipe.sha256) == 64
    assert recipe.request == DecodeRequest(path="", indices=(3, 4), threads=2)
    recipe.require(mp4)


def test_recipe_is_the_same_after_writing_and_reading(recipe: Recipe, tmp_path: Path) -> None:
    path = write_recipe(recipe, tmp_path / "corpus" / "one.json")
    assert read_recipe(path) == recipe
    assert [each.name for each in path.parent.iterdir()] == ["one.json"]
    assert json.loads(path.read_text(encoding="ascii"))["schema"] == SCHEMA


def test_writing_replaces_the_whole_file(recipe: Recipe, tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text("x" * 100_000)
    write_recipe(recipe, path)
    assert read_recipe(path) == recipe


def test_id_stands_for_the_decode_not_for_what_is_said_about_it(recipe: Recipe) -> None:
    assert replace(recipe, note="", came=None, expected=INVALID).id == recipe.id
    assert replace(recipe, decoder="pyav").id != recipe.id
    assert replace(recipe, damage=Damage()).id != recipe.id
    assert len(recipe.id) == 16


def test_request_of_a_recipe_has_no_path(recipe: Recipe, mp4: Clip) -> None:
    with pytest.raises(ValueError, match="the request of a recipe has no path; leave it empty"):
        replace(recipe, request=DecodeRequest(path=mp4.path))


def test_recipe_for_another_clip_names_both(recipe: Recipe, small_clips: dict[str, Clip]) -> None:
    other = small_clips["avi"]
    with pytest.raises(DamageError) as caught:
        recipe.require(other)
    text = str(caught.value)
    assert text.startswith(f"a recipe for clip {recipe.clip} (sha256 {recipe.sha256[:12]}), not for {other.name} (")
    assert text.endswith(f"): give {recipe.clip}")


def test_recipe_for_another_content_of_the_same_clip_says_so(recipe: Recipe, mp4: Clip, tmp_path: Path) -> None:
    changed = tmp_path / "changed.mp4"
    changed.write_bytes(b"another content")
    with pytest.raises(DamageError, match="its file differs here; use the file, or the library versions"):
        recipe.require(replace(mp4, path=str(changed)))


def test_recipe_for_an_empty_clip_is_refused(recipe: Recipe, mp4: Clip, tmp_path: Path) -> None:
    empty = tmp_path / "empty.mp4"
    empty.touch()
    with pytest.raises(DamageError, match=r"empty.mp4: an empty file, there is nothing to damage; give a video file"):
        recipe.require(replace(mp4, path=str(empty)))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "not a recipe that can be read here"),
        (b"{}", "not a recipe that can be read here"),
        (b'{"schema": 1}', "not of schema '1' that can be read here; this version reads 'videodecode-recipe/1'"),
        (b'{"schema": "videodecode-recipe/2"}', "not of schema 'videodecode-recipe/2' that can be read here"),
        (b'{"schema": "videodecode-recipe/1"}', "damage: expected dict, got NoneType"),
    ],
)
def test_a_file_that_is_no_recipe_is_refused_in_one_line(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_bytes(content)
    with pytest.raises(FormError) as caught:
        read_recipe(path)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"damage": {"operators": [{"op": "melt"}]}}, "recipe.damage.operators[0]: unknown op 'melt'"),
        ({"request": {"path": "/tmp/x.mp4"}}, "recipe: the request of a recipe has no path; leave it empty"),
        ({"came": {"kind": "sulk"}}, "recipe.came.kind: 'sulk' is none of frames, partial"),
        ({"extra": 1}, "recipe: unknown field 'extra'"),
        ({"decoder": None}, "recipe.decoder: expected str, got NoneType"),
    ],
)
def test_a_fault_in_a_recipe_is_named_with_its_place(recipe: Recipe, change: dict[str, Any], message: str) -> None:
    with pytest.raises(FormError) as caught:
        recipe_from_json({**to_json(recipe), **change})
    assert str(caught.value).startswith(message)


def test_a_file_that_is_too_long_or_absent_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "long.json"
    path.write_bytes(b" " * (MAX_RECIPE + 1))
    with pytest.raises(DamageError, match=f"long.json: longer than the {MAX_RECIPE} bytes that a recipe may have"):
        read_recipe(path)
    with pytest.raises(DamageError, match=r"gone.json: cannot be read \(No such file or directory\)"):
        read_recipe(tmp_path / "gone.json")
    with pytest.raises(DamageError, match=r"cannot be read \(Is a directory\)"):
        read_recipe(tmp_path)


def test_outcomes_are_compared_by_kind_and_type_of_error() -> None:
    error = ErrorInfo(type="InvalidDataError", message="Invalid data found")
    assert OutcomeClass.of(Outcome(kind=OutcomeKind.ERROR, error=error)) == INVALID
    assert OutcomeClass.of(Outcome(kind=OutcomeKind.FRAMES, count=3)) == OutcomeClass(kind=OutcomeKind.FRAMES)
    assert str(INVALID) == "error (InvalidDataError)"
    assert str(OutcomeClass(kind=OutcomeKind.HANG)) == "hang"
