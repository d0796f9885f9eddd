"""The corpus in the suite, and --videodecode-corpus."""

from __future__ import annotations

import json
import os

from inner_runs import InnerRuns

from pytest_videodecode.failures import corpus

NAMES = [path.stem for path in corpus.recipes()]
CUT = (corpus.packaged() / "mpeg4-burst.json").read_text()


def own(inner: InnerRuns, **recipes: str) -> None:
    """A corpus of one's own in the folder of the run."""
    for name, content in recipes.items():
        inner.file(f"own/corpus/{name}.json", content)
    os.symlink(corpus.packaged().parent / corpus.CLIPS, inner.pytester.path / "own" / corpus.CLIPS)


def test_every_recipe_is_replayed_by_the_suite(inner: InnerRuns) -> None:
    ran = inner.suite(checks=None, codecs="mpeg4", decoder="production")
    found = [verdict for verdict in ran.verdicts if verdict["check"] == "corpus"]
    assert [(verdict["clip"], verdict["status"]) for verdict in found] == [(name, "passed") for name in NAMES]
    assert {verdict["check"] for verdict in ran.verdicts} > {"corpus", "frame_identity", "damage_outcome"}
    assert found[0]["evidence"]["came"]
    assert found[0]["replay"] == f"videodecode replay {NAMES[0]} --decoder production"


def test_corpus_alone_and_the_rest_alone(inner: InnerRuns) -> None:
    ran = inner.suite(checks="corpus", decoder="pyav")
    ran.result.assert_outcomes(passed=len(NAMES))
    assert {verdict["check"] for verdict in ran.verdicts} == {"corpus"}
    ran = inner.suite(checks="frame_identity", decoder="pyav")
    ran.result.assert_outcomes(passed=1)


def test_failure_is_one_verdict_with_the_command_that_shows_it_again(inner: InnerRuns) -> None:
    own(inner, mine=CUT)
    ran = inner.suite(
        "-kmine", checks="corpus", decoder="rogue:hangs_without_the_gil", timeout="1", corpus="own/corpus"
    )
    failed = ran.verdict
    assert failed["status"] == "failed"
    asked = "400 random bytes at 6000 in media (seed 0): asked 40 frames from 0 to 39"
    assert failed["reason"].startswith(f"{asked}, got hang")
    assert failed["replay"] == (
        "videodecode replay own/corpus/mine.json --decoder rogue:hangs_without_the_gil --timeout 1.0"
    )


def test_file_that_is_no_recipe_is_an_error_of_one_line_and_the_others_still_run(inner: InnerRuns) -> None:
    recipe = json.loads(CUT)
    own(
        inner,
        broken="{",
        empty="",
        old=json.dumps({**recipe, "schema": "videodecode-recipe/0"}),
        other=json.dumps({**recipe, "sha256": "0" * 64}),
        outside=json.dumps({**recipe, "damage": {"operators": [{"op": "truncate", "keep_bytes": 10**9}]}}),
        absent=json.dumps({**recipe, "clip": "gone.avi"}),
        right=CUT,
    )
    ran = inner.suite(checks="corpus", decoder="pyav", corpus="own/corpus")
    ran.result.assert_outcomes(passed=len(NAMES) + 1, failed=5, skipped=1)
    found = {verdict["clip"]: verdict for verdict in ran.verdicts if verdict["clip"] not in NAMES}
    assert {name: verdict["status"] for name, verdict in found.items()} == {
        "absent": "unsupported",
        "broken": "error",
        "empty": "error",
        "old": "error",
        "other": "error",
        "outside": "error",
        "right": "passed",
    }
    words = {
        "absent": "the recipe is for gone.avi, which is not here",
        "broken": "not JSON",
        "empty": "not JSON",
        "old": "not of schema 'videodecode-recipe/0'",
        "other": "a recipe for clip mpeg4.avi (sha256 000000000000)",
        "outside": "cannot keep 1000000000 bytes",
    }
    for name, word in words.items():
        assert word in found[name]["reason"]
        assert "\n" not in found[name]["reason"]
    assert "Traceback" not in ran.out


def test_ini_key_is_relative_to_its_file(inner: InnerRuns) -> None:
    own(inner, mine=CUT)
    inner.pytester.makeini("[pytest]\nvideodecode_corpus = own/corpus\n")
    assert "mine" in {verdict["clip"] for verdict in inner.suite(checks="corpus", decoder="pyav").verdicts}


def test_real_clip_of_a_recipe_is_found_among_the_clips(inner: InnerRuns) -> None:
    recipe = json.loads(CUT)
    clip = corpus.packaged().parent / corpus.CLIPS / recipe["clip"]
    inner.file("real/of-mine.avi", clip.read_bytes())
    inner.file("own/corpus/mine.json", json.dumps({**recipe, "clip": "of-mine.avi"}))
    ran = inner.suite("-kmine", checks="corpus", decoder="pyav", corpus="own/corpus", clips="real")
    assert (ran.verdict["clip"], ran.verdict["status"]) == ("mine", "passed")


def test_folder_that_is_none_is_refused(inner: InnerRuns) -> None:
    assert inner.suite(corpus="nowhere").usage_error == (
        "--videodecode-corpus: there is no folder nowhere; give one of recipes"
    )


def test_failure_of_a_check_is_kept_and_replayed_by_its_id(inner: InnerRuns) -> None:
    ran = inner.suite(checks="damage_outcome", decoder="rogue:hangs_without_the_gil", timeout="1")
    (kept,) = (inner.pytester.path / ".videodecode" / "failures").glob("*/recipe.json")
    assert ran.verdict["replay"] == f"videodecode replay {kept.parent.name} --timeout 1.0"
    assert sorted(path.name for path in kept.parent.iterdir()) == ["damaged.mp4", "outcome.json", "recipe.json"]


def test_failure_that_cannot_be_kept_is_one_more_remark(inner: InnerRuns) -> None:
    inner.file(".videodecode/failures", "a file")
    ran = inner.suite(checks="damage_outcome", decoder="rogue:hangs_without_the_gil", timeout="1")
    assert ran.verdict["status"] == "failed"
    assert "failures cannot be kept in" in ran.verdict["reason"]
