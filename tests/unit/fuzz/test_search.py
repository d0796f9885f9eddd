from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from fake_decodes import CRASH, REFUSED

from pytest_videodecode.damage.operators import FlipBytes
from pytest_videodecode.damage.recipe import read_recipe
from pytest_videodecode.failures.store import FailureStore
from pytest_videodecode.fuzz.search import Plan, Search, Seen
from pytest_videodecode.fuzz.trials import Trials
from pytest_videodecode.model import Clip, Outcome

MakeTrials = Callable[[Callable[[bytes], Outcome | str]], Trials]
WEAK = slice(4000, 8000)


@pytest.fixture
def weak(clip: Clip) -> Callable[[bytes], Outcome | str]:
    """Hangs when a byte of the weak place was changed and none was added or taken away; else the file is refused."""
    clean = Path(clip.path).read_bytes()
    return lambda data: "hang" if len(data) == len(clean) and data[WEAK] != clean[WEAK] else REFUSED


def search(
    trials: Trials, store: FailureStore, folder: Path, plan: Plan, tell: Callable[[Seen], None] | None = None
) -> Search:
    found = Search([trials], store, folder / "examples", plan, tell or (lambda seen: None))
    found.run()
    return found


def test_hang_is_shrunk_to_one_flip_and_kept(
    tmp_path: Path, trials: MakeTrials, store: FailureStore, weak: Callable[[bytes], Outcome | str]
) -> None:
    seen: list[Seen] = []
    found = search(trials(weak), store, tmp_path, Plan(examples=150), seen.append)
    (tally,) = found.tallies
    assert tally.failed == ("hang",)
    assert tally.examples >= 150
    assert tally.examples == sum(tally.classes.values())
    (name,) = store.names()
    (operator,) = read_recipe(store.folder / name / "recipe.json").damage.operators
    assert isinstance(operator, FlipBytes)
    assert len(operator.flips) == 1
    (shrunk,) = [each for each in seen if each.id]
    assert (shrunk.id, shrunk.outcome) == (name, "hang")
    assert "flip 1 byte in media, frames by index [0]: asked frame 0, got hang" in shrunk.fault
    firsts = [each for each in seen if each.outcome and not each.id]
    assert {each.outcome for each in firsts} == set(tally.classes) >= {"hang", "error (ValueError)"}


def test_failure_of_an_earlier_search_is_tried_first(
    tmp_path: Path, trials: MakeTrials, store: FailureStore, weak: Callable[[bytes], Outcome | str]
) -> None:
    search(trials(weak), store, tmp_path, Plan(examples=150))
    seen: list[Seen] = []
    (tally,) = search(trials(weak), store, tmp_path, Plan(seed=99, examples=1), seen.append).tallies
    assert seen[0].outcome == "hang"
    assert tally.failed == ("hang",)
    assert [each.id for each in seen if each.id] == store.names()


def test_each_class_is_shrunk_once_and_then_counted(
    tmp_path: Path, trials: MakeTrials, store: FailureStore, clip: Clip
) -> None:
    clean = Path(clip.path).read_bytes()

    def say(data: bytes) -> Outcome | str:
        return "hang" if len(data) == len(clean) else CRASH if len(data) < len(clean) else REFUSED

    seen: list[Seen] = []
    (tally,) = search(trials(say), store, tmp_path, Plan(examples=200), seen.append).tallies
    assert tally.failed == ("crash", "hang")
    assert sorted(each.outcome for each in seen if each.id) == ["crash", "hang"]
    assert len(store.names()) == 2
    seen.clear()
    search(trials(say), store, tmp_path, Plan(examples=1), seen.append)
    assert sorted(each.outcome for each in seen if each.id) == ["crash", "hang"]


def test_equal_seeds_try_equal_examples_and_others_others(
    tmp_path: Path, trials: MakeTrials, store: FailureStore
) -> None:
    def tried(seed: int, folder: str) -> list[bytes]:
        files: list[bytes] = []

        def say(data: bytes) -> Outcome:
            files.append(data)
            return REFUSED

        search(trials(say), store, tmp_path / folder, Plan(seed=seed, examples=60))
        return files

    assert tried(1, "a") == tried(1, "b") != tried(2, "c")


def test_clips_take_turns_and_the_amount_is_for_all(tmp_path: Path, trials: MakeTrials, store: FailureStore) -> None:
    both = [trials(lambda data: REFUSED), trials(lambda data: REFUSED)]
    found = Search(both, store, tmp_path, Plan(examples=120), lambda seen: None)
    found.run()
    assert [tally.examples for tally in found.tallies] == [70, 50]


def test_time_that_is_up_ends_the_search(tmp_path: Path, trials: MakeTrials, store: FailureStore) -> None:
    (tally,) = search(trials(lambda data: REFUSED), store, tmp_path, Plan(seconds=0)).tallies
    assert (tally.examples, tally.failed) == (0, ())
