from __future__ import annotations

import dataclasses
import os
import threading
from pathlib import Path

import numpy as np
import pytest

from pytest_videodecode.damage.recipe import OutcomeClass, Recipe, read_recipe
from pytest_videodecode.errors import DamageError, FormError
from pytest_videodecode.failures.store import FOLDER, FailureStore, damaged_file, read_failure
from pytest_videodecode.model import ErrorInfo, Hang, Outcome, OutcomeKind

HANG = Outcome(kind=OutcomeKind.HANG, hang=Hang(limit_s=2, gil_held=True, stacks="Thread 1"), log="last words")
CRASH = Outcome(kind=OutcomeKind.CRASH, signal="SIGSEGV")


def numbered(recipe: Recipe, number: int) -> Recipe:
    return dataclasses.replace(recipe, request=dataclasses.replace(recipe.request, indices=(number,)))


def test_folder_has_all_that_is_needed_to_see_it_again(tmp_path: Path, recipe: Recipe, damaged: Path) -> None:
    outcome = dataclasses.replace(HANG, frames=np.zeros((1, 2, 2, 3), np.uint8))
    folder = FailureStore(tmp_path / "kept").keep(recipe, damaged, outcome, "it hung")
    assert folder == tmp_path / "kept" / recipe.id
    assert sorted(path.name for path in folder.iterdir()) == ["damaged.avi", "outcome.json", "recipe.json"]
    assert read_recipe(folder / "recipe.json") == dataclasses.replace(recipe, came=OutcomeClass.of(HANG))
    failure = read_failure(folder)
    assert (failure.reason, failure.count) == ("it hung", 1)
    assert failure.outcome == HANG
    assert (failure.outcome.hang, failure.outcome.log) == (HANG.hang, "last words")
    kept = damaged_file(folder)
    assert kept is not None
    assert kept.read_bytes() == b"damaged"
    assert [path.name for path in (tmp_path / "kept").iterdir() if path.name.startswith(".new")] == []


def test_same_failure_is_kept_once_and_counted(tmp_path: Path, recipe: Recipe, damaged: Path) -> None:
    store = FailureStore(tmp_path / "kept")
    folders = {store.keep(recipe, damaged, HANG, "it hung") for _ in range(3)}
    assert len(folders) == 1
    assert read_failure(folders.pop()).count == 3


def test_many_that_keep_at_once_lose_nothing(tmp_path: Path, recipe: Recipe, damaged: Path) -> None:
    def keep() -> None:
        FailureStore(tmp_path / "kept").keep(recipe, damaged, HANG, "it hung")

    threads = [threading.Thread(target=keep) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read_failure(tmp_path / "kept" / recipe.id).count == 8


def test_full_store_lets_the_class_that_floods_it_make_way(tmp_path: Path, recipe: Recipe, damaged: Path) -> None:
    store = FailureStore(tmp_path / "kept", limit=3)
    crash = numbered(recipe, 0)
    store.keep(crash, damaged, CRASH, "")
    hangs = [numbered(recipe, number) for number in range(1, 5)]
    for number, hang in enumerate(hangs):
        folder = store.keep(hang, damaged, HANG, "")
        os.utime(folder, (number, number))  # met one after another
    assert store.names() == [hangs[2].id, hangs[3].id, crash.id]


def test_new_class_takes_a_place_in_the_largest(tmp_path: Path, recipe: Recipe, damaged: Path) -> None:
    store = FailureStore(tmp_path / "kept", limit=3)
    hangs = [numbered(recipe, number) for number in range(3)]
    for number, hang in enumerate(hangs):
        os.utime(store.keep(hang, damaged, HANG, ""), (number, number))
    crash = numbered(recipe, 9)
    store.keep(crash, damaged, CRASH, "")
    assert store.names() == [hangs[1].id, hangs[2].id, crash.id]


def test_failure_that_is_met_again_is_not_the_oldest(tmp_path: Path, recipe: Recipe, damaged: Path) -> None:
    store = FailureStore(tmp_path / "kept", limit=2)
    first, second, third = (numbered(recipe, number) for number in range(3))
    for number, each in enumerate((first, second)):
        os.utime(store.keep(each, damaged, HANG, ""), (number, number))
    store.keep(first, damaged, HANG, "")
    store.keep(third, damaged, HANG, "")
    assert store.names() == [first.id, third.id]


def test_folder_that_cannot_be_written_in_is_one_line(tmp_path: Path, recipe: Recipe, damaged: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DamageError, match=r"failures cannot be kept in .*Not a directory.*make it writable") as caught:
        FailureStore(tmp_path / "file" / "kept").keep(recipe, damaged, HANG, "")
    assert "\n" not in str(caught.value)


def test_outcome_edited_by_hand_is_left_alone(tmp_path: Path, recipe: Recipe, damaged: Path) -> None:
    store = FailureStore(tmp_path / "kept")
    folder = store.keep(recipe, damaged, HANG, "")
    (folder / "outcome.json").write_text("notes of mine")
    assert store.keep(recipe, damaged, HANG, "") == folder
    assert (folder / "outcome.json").read_text() == "notes of mine"
    with pytest.raises(FormError, match="not JSON"):
        read_failure(folder)


def test_discarded_failure_is_gone(tmp_path: Path, recipe: Recipe, damaged: Path) -> None:
    store = FailureStore(tmp_path / "kept")
    store.keep(recipe, damaged, HANG, "")
    store.discard(recipe.id)
    store.discard("another")
    assert store.names() == []


def test_other_version_is_said(tmp_path: Path, recipe: Recipe, damaged: Path) -> None:
    error = ErrorInfo(type="ValueError", message="x")
    folder = FailureStore(tmp_path / "kept").keep(recipe, damaged, dataclasses.replace(CRASH, error=error), "")
    path = folder / "outcome.json"
    path.write_text(path.read_text().replace("videodecode-failure/1", "videodecode-failure/9"))
    with pytest.raises(FormError, match="of schema 'videodecode-failure/9'; this version reads"):
        read_failure(folder)


def test_command_names_the_failure_as_it_is_found_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = FailureStore(tmp_path / FOLDER)
    assert store.replay("abc") == ["videodecode", "replay", str(tmp_path / FOLDER / "abc")]
    monkeypatch.chdir(tmp_path)
    assert store.replay("abc") == ["videodecode", "replay", "abc"]
