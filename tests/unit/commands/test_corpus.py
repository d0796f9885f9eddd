from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_videodecode.damage.damage import Damage, damaged_bytes
from pytest_videodecode.damage.operators import FlipBytes
from pytest_videodecode.damage.recipe import Recipe, read_recipe
from pytest_videodecode.failures.store import FOLDER, FailureStore
from pytest_videodecode.model import Clip, DecodeRequest, Outcome, OutcomeKind

Run = Callable[..., tuple[int, list[str], list[str]]]

CRASH = Outcome(kind=OutcomeKind.CRASH, signal="SIGSEGV")
WEAK = Damage((FlipBytes(region="any", flips=((5000, 255),)),))


@pytest.fixture
def kept(tmp_path: Path, clip: Clip) -> Path:
    damaged = tmp_path / "damaged.mp4"
    damaged.write_bytes(damaged_bytes(clip, WEAK))
    recipe = Recipe.of(clip, WEAK, DecodeRequest(path=clip.path, indices=(0,)), "fragile:crashes")
    return FailureStore(FOLDER).keep(recipe, damaged, CRASH, "it crashed")


def test_failure_is_added_listed_and_replayed_by_its_new_name(run: Run, kept: Path) -> None:
    status, out, _ = run("corpus", "add", kept.name, "--name", "weak-place", "--note", "It crashed once.")
    assert (status, out) == (0, ["fixtures/corpus/weak-place.json"])
    (clip,) = Path("fixtures/clips").glob("*.mp4")
    assert read_recipe(Path(out[0])).clip == clip.name

    status, out, _ = run("corpus", "list", "--corpus", "fixtures/corpus")
    assert status == 0
    assert out[-2:] == [
        f"weak-place: {clip.name} with flip 1 byte in any; frames by index [0]",
        "  It crashed once.",
    ]
    assert out[0].startswith("av1-200-flips: av1.mp4 with flip 200 scattered bytes in media")

    status, out, _ = run("replay", "weak-place", "--corpus", "fixtures/corpus")
    assert (status, out[1], out[-1]) == (1, "then (fragile:crashes): crash", "STILL FAILS")


def test_name_is_given_once(run: Run, kept: Path) -> None:
    run("corpus", "add", kept.name, "--to", "own/corpus", "--name", "weak")
    status, _, errors = run("corpus", "add", kept.name, "--to", "own/corpus", "--name", "weak")
    assert (status, errors) == (2, ["videodecode: own/corpus/weak.json: there already; give another name"])


def test_list_goes_on_behind_a_recipe_that_is_none(run: Run) -> None:
    Path("own").mkdir()
    Path("own/bad.json").write_text("{")
    Path("own/old.json").write_text('{"schema": "videodecode-recipe/0"}')
    status, out, errors = run("corpus", "list", "--corpus", "own")
    assert (status, len(errors)) == (1, 2)
    assert errors[0].startswith("videodecode: own/bad.json: not JSON")
    assert errors[1].startswith("videodecode: own/old.json: not of schema 'videodecode-recipe/0'")
    assert len([line for line in out if line[0] != " "]) >= 15


def test_folder_that_is_none_is_refused(run: Run) -> None:
    assert run("corpus", "list", "--corpus", "nowhere")[::2] == (
        2,
        ["videodecode: --corpus: there is no folder nowhere; give one of recipes"],
    )
