"""Property tests of a user's own, as docs/fuzzing.md shows them."""

from __future__ import annotations

import re

import fragile
import pytest
from inner_runs import InnerRuns

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.model import ClipSpec

TEST = """
from hypothesis import given, settings, strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase

from pytest_videodecode.damage.strategies import damages, decode_requests
from pytest_videodecode.fuzz.own_tests import damage_settings

shared = settings(damage_settings, max_examples=60, database=DirectoryBasedExampleDatabase("shared"))


@shared
@given(data=st.data())
def test_reader_stands_damage(videodecode, data):
    clip = videodecode.clip("h264:width=160:height=96:frames=16")
    damage = data.draw(damages(clip))
    request = data.draw(decode_requests(clip))
    videodecode.assert_damaged(clip, damage, request, decoder="fragile:{function}")


@shared
@given(data=st.data())
def test_other(videodecode, data):
    clip = videodecode.clip("h264:width=160:height=96:frames=16")
    videodecode.assert_damaged(clip, data.draw(damages(clip)), decoder="fragile:sound")
"""


@pytest.fixture
def planted(inner: InnerRuns, clip_cache: ClipCache, monkeypatch: pytest.MonkeyPatch) -> InnerRuns:
    clip = clip_cache.clip(ClipSpec(codec="h264", width=160, height=96, frames=16))
    monkeypatch.setenv(fragile.CLEAN_ENV, clip.path)
    return inner


def run(inner: InnerRuns, function: str, *arguments: str) -> pytest.RunResult:
    inner.pytester.makepyfile(test_own=TEST.replace("{function}", function))
    return inner.pytester.runpytest_subprocess("-p", "no:cacheprovider", "-Werror", *arguments)


@pytest.mark.parametrize(("function", "words"), [("hangs", "hang after"), ("crashes", "crash (SIGSEGV)")])
def test_failure_shrinks_and_its_message_has_all_that_is_needed(planted: InnerRuns, function: str, words: str) -> None:
    result = run(planted, function, "--hypothesis-seed=3", "--videodecode-seed=5")
    result.assert_outcomes(passed=1, failed=1)
    out = str(result.stdout)
    assert f"with flip 1 byte in media, asked frames by index [0]: asked frame 0, got {words}" in out
    assert 'recipe: {"schema":"videodecode-recipe/1","clip":"h264:width=160:height=96:frames=16"' in out
    (kept,) = (planted.pytester.path / ".videodecode" / "failures").glob("*/recipe.json")
    assert re.search(rf"again: videodecode replay {kept.parent.name} \(seed 5\)", out)
    for noise in ("Flaky", "deadline", "HealthCheck", "Unreliable"):
        assert noise not in out


def test_example_database_is_shared_by_processes(planted: InnerRuns) -> None:
    run(planted, "crashes", "--hypothesis-seed=3").assert_outcomes(passed=1, failed=1)
    assert list((planted.pytester.path / "shared").iterdir())
    result = run(planted, "crashes", "-n2", "--hypothesis-seed=4", "-k", "stands")
    result.assert_outcomes(failed=1)
    assert "with flip 1 byte in media" in str(result.stdout)
