from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from pytest_videodecode.damage.recipe import OutcomeClass, Recipe, write_recipe
from pytest_videodecode.errors import DamageError, FormError
from pytest_videodecode.failures import corpus
from pytest_videodecode.failures.replay import askable, find, replay
from pytest_videodecode.failures.store import FOLDER, FailureStore
from pytest_videodecode.model import Clip, DecodeRequest, DecoderInfo, Hang, Outcome, OutcomeKind

HANG = Outcome(kind=OutcomeKind.HANG, hang=Hang(limit_s=3, gil_held=True))


@pytest.fixture
def kept(tmp_path: Path, recipe: Recipe, damaged: Path) -> Path:
    return FailureStore(tmp_path / FOLDER).keep(recipe, damaged, HANG, "it hung")


def test_failure_is_found_by_id_and_by_folder(tmp_path: Path, kept: Path, recipe: Recipe) -> None:
    by_id, by_folder = find(recipe.id, tmp_path), find(str(kept), Path("elsewhere"))
    assert by_id == by_folder
    assert by_id.recipe == dataclasses.replace(recipe, came=OutcomeClass.of(HANG))
    assert by_id.kept == kept / "damaged.avi"
    assert (by_id.then, by_id.limit_s) == ("hang after 3 s, GIL held", 3)


def test_recipe_file_is_made_anew_even_in_the_folder_of_a_failure(tmp_path: Path, kept: Path) -> None:
    found = find(str(kept / "recipe.json"), tmp_path)
    assert (found.kept, found.failure, found.then, found.limit_s) == (None, None, "hang", None)


def test_recipe_of_a_corpus_is_found_by_its_name(tmp_path: Path, recipe: Recipe) -> None:
    path = write_recipe(recipe, tmp_path / "corpus" / "mine.json")
    assert find("mine", tmp_path, [tmp_path / "corpus"]).path == path
    shipped = find("av1-cut", tmp_path)
    assert (shipped.path.parent, shipped.then) == (corpus.packaged(), "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0123456789abcdef", "no recipe file, no folder of a failure and no id in .*failures, and no recipe of"),
        ("absent.json", "absent.json: cannot be read .No such file"),
        (".", "recipe.json: cannot be read"),
    ],
)
def test_nothing_of_that_name_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, words: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DamageError, match=words) as caught:
        find(text, tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[1]", "not a recipe that can be read here"),
        ('{"schema": "videodecode-recipe/9"}', "not of schema 'videodecode-recipe/9'"),
    ],
)
def test_file_that_is_no_recipe_is_said(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(content)
    with pytest.raises(FormError, match=words) as caught:
        find(str(path), tmp_path)
    assert "\n" not in str(caught.value)


def test_replay_asks_the_damaged_file_under_the_limit(recipe: Recipe, clip: Clip, damaged: Path) -> None:
    asked: list[tuple[DecodeRequest, float | None]] = []

    def decode(request: DecodeRequest, limit_s: float | None) -> Outcome:
        asked.append((request, limit_s))
        return HANG

    again = replay(recipe, clip, damaged, decode, limit_s=3)
    assert asked == [(dataclasses.replace(recipe.request, path=str(damaged)), 3)]
    assert again.outcome == HANG
    assert again.fault.startswith("asked 2 frames from 0 to 1, got hang after 3 s")


def test_decoder_that_takes_times_is_asked_by_them(clip: Clip) -> None:
    by_time = DecoderInfo(name="x", asks=("timestamps",))
    request = DecodeRequest(path="", indices=(0, 3, 900))
    times = [float(time) for time in clip.times]
    assert askable(request, clip, by_time).timestamps == (times[0], times[3], times[-1])
    assert askable(request, clip, by_time).indices is None
    assert askable(request, clip, DecoderInfo(name="x")) == request
    assert askable(request, None, by_time) == request


def test_decoder_that_takes_indices_is_asked_by_them(clip: Clip) -> None:
    by_index = DecoderInfo(name="x", asks=("indices",))
    request = DecodeRequest(path="", timestamps=(float(clip.times[3]) + 1e-5, 99.0))
    assert askable(request, clip, by_index).indices == (3, clip.frames - 1)
    assert askable(request, clip, by_index).timestamps is None
