"""Property tests of a user's own, as docs/fuzzing.md shows them."""

from __future__ import annotations

import re

import fragile
import pytest
from inner_runs import InnerRuns

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.model import ClipSpec

TEST = """
import os

from hypothesis import Phase, given, settings, strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase

from pytest_videodecode.damage.strategies import damages, decode_requests
from pytest_videodecode.fuzz.own_tests import damage_settings

phases = [Phase.reuse] if "ONLY_REUSE" in os.environ else damage_settings.phases
shared = settings(damage_settings, max_examples=60, phases=phases, database=DirectoryBasedExampleDatabase("shared"))


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


def test_failure_shrinks_and_its_message_has_all_that_is_needed(planted: InnerRuns) -> None:
    result = run(planted, "confuses", "--hypothesis-seed=3", "--videodecode-seed=5")
    result.assert_outcomes(passed=1, failed=1)
    out = str(result.stdout)
    assert re.search(r"with .*, asked frames by .*: asked frame .*, got KeyError: .*allowed are", out)
    assert 'recipe: {"schema":"videodecode-recipe/1","clip":"h264:width=160:height=96:frames=16"' in out
    (kept,) = (planted.pytester.path / ".videodecode" / "failures").glob("*/recipe.json")
    assert re.search(rf"again: videodecode replay {kept.parent.name} \(seed 5\)", out)
    for noise in ("Flaky", "deadline", "HealthCheck", "Unreliable"):
        assert noise not in out


def test_example_database_is_shared_by_processes(planted: InnerRuns, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run(planted, "confuses", "-n2")
    first.assert_outcomes(passed=1, failed=1)
    monkeypatch.setenv("ONLY_REUSE", "1")
    again = run(planted, "confuses", "-n2")
    again.assert_outcomes(skipped=1, failed=1)  # skipped, because there is nothing to be tried again
    replayed = [{line for line in result.outlines if "again: " in line} for result in (first, again)]
    assert replayed[0] == replayed[1]
