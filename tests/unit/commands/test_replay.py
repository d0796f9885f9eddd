from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_videodecode.damage.damage import Damage, damaged_bytes
from pytest_videodecode.damage.operators import FlipBytes
from pytest_videodecode.damage.recipe import Recipe, write_recipe
from pytest_videodecode.failures.corpus import CLIPS, packaged
from pytest_videodecode.failures.store import FOLDER, FailureStore
from pytest_videodecode.jsonform import to_json
from pytest_videodecode.model import Clip, DecodeRequest, Hang, Outcome, OutcomeKind

Run = Callable[..., tuple[int, list[str], list[str]]]

WEAK = Damage((FlipBytes(region="any", flips=((5000, 255),)),))
HANG = Outcome(kind=OutcomeKind.HANG, hang=Hang(limit_s=0.5, gil_held=False))


@pytest.fixture
def recipe(clip: Clip) -> Recipe:
    return Recipe.of(clip, WEAK, DecodeRequest(path=clip.path, indices=(0,)), "fragile:hangs")


@pytest.fixture
def kept(tmp_path: Path, clip: Clip, recipe: Recipe) -> Path:
    damaged = tmp_path / "damaged.mp4"
    damaged.write_bytes(damaged_bytes(clip, WEAK))
    return FailureStore(FOLDER).keep(recipe, damaged, HANG, "it hung")


def test_hang_replays_as_a_hang_and_another_decoder_fixes_it(run: Run, kept: Path) -> None:
    status, out, _ = run("replay", kept.name)
    assert status == 1
    assert out[0].startswith(f"{kept.name}: h264:width=160:height=96:frames=16 with flip 1 byte in any; ")
    assert out[1] == "then (fragile:hangs): hang after 0.5 s, GIL released"
    assert out[2].startswith("now  (fragile:hangs): asked frame 0, got hang after 0.5 s, GIL released")
    assert out[3] == "STILL FAILS"

    status, out, _ = run("replay", kept, "--decoder", "fragile:sound")
    assert (status, out[3]) == (0, "FIXED")
    assert out[2].startswith("now  (fragile:sound): ")


def test_recipe_alone_makes_the_damaged_file_anew(run: Run, kept: Path) -> None:
    (kept / "damaged.mp4").unlink()
    for text in (kept.name, kept / "recipe.json"):
        status, out, _ = run("replay", text, "--timeout", "0.5")
        assert (status, out[-1]) == (1, "STILL FAILS")


def test_damaged_file_is_enough_where_the_clip_is_gone(run: Run, kept: Path, recipe: Recipe) -> None:
    write_recipe(replace(recipe, clip="gone.mp4"), kept / "recipe.json")
    status, out, _ = run("replay", kept)
    assert (status, out[-1]) == (1, "STILL FAILS")
    status, out, errors = run("replay", kept / "recipe.json")
    assert (status, out) == (2, [])
    assert errors[0].startswith("videodecode: the recipe is for gone.mp4, which is not here; put it into ")


def test_recipe_of_the_corpus_is_replayed_by_name(run: Run) -> None:
    status, out, _ = run("replay", "h264-300-flips", "--decoder", "fragile:sound")
    assert (status, out[-1]) == (0, "FIXED")
    assert out[1] == "then (production): not written down"


def test_real_file_is_named(run: Run, clip: Clip, recipe: Recipe, tmp_path: Path) -> None:
    Path("own.mp4").write_bytes(Path(clip.path).read_bytes())
    path = write_recipe(replace(recipe, clip="own.mp4"), tmp_path / "own.json")
    status, out, _ = run("replay", path, "--clip", "own.mp4", "--timeout", "0.5")
    assert (status, out[-1]) == (1, "STILL FAILS")


SHIPPED = json.loads((packaged() / "av1-cut.json").read_text())


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "bad.json: not JSON"),
        ("{]", "not JSON"),
        (json.dumps({**SHIPPED, "schema": "videodecode-recipe/0"}), "not of schema 'videodecode-recipe/0'"),
        (json.dumps({**SHIPPED, "sha256": "0" * 64}), "a recipe for clip av1.mp4 .* not for av1.mp4"),
        (json.dumps({**SHIPPED, "clip": "vp9.webm"}), "not for vp9.webm .*: its file differs here"),
        (
            json.dumps({**SHIPPED, "damage": to_json(Damage((FlipBytes(flips=((99_999_999, 1),)),)))}),
            "clip av1.mp4: flip_bytes: offset 99999999 is outside region 'media'",
        ),
    ],
)
def test_bad_recipe_is_one_line(run: Run, content: str, words: str) -> None:
    Path("corpus").mkdir()
    Path("clips").symlink_to(packaged().parent / CLIPS)
    path = Path("corpus") / "bad.json"
    path.write_text(content)
    status, out, errors = run("replay", path)
    assert (status, out, len(errors)) == (2, [], 1)
    assert re.search(words, errors[0])


def test_empty_clip_and_unknown_decoder_are_one_line(run: Run, recipe: Recipe, tmp_path: Path) -> None:
    path = write_recipe(replace(recipe, clip="own.mp4"), tmp_path / "own.json")
    Path("own.mp4").write_bytes(b"")
    assert run("replay", path, "--clip", "own.mp4")[::2] == (
        2,
        ["videodecode: own.mp4: an empty file; give a video file"],
    )
    status, _, errors = run("replay", "av1-cut", "--decoder", "nobody")
    assert (status, len(errors)) == (2, 1)
    assert "decoder 'nobody' is unknown" in errors[0]


def test_recipe_that_the_decoder_cannot_be_asked_is_neither_fixed_nor_failing(
    run: Run, kept: Path, recipe: Recipe
) -> None:
    write_recipe(replace(recipe, request=replace(recipe.request, thread_type="FRAME")), kept / "recipe.json")
    status, out, errors = run("replay", kept, "--decoder", "fragile:sound")
    assert (status, out) == (2, [])
    assert errors == ["videodecode: fragile:sound has no thread type FRAME; it knows none"]
