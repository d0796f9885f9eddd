from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from fake_decodes import CRASH, REFUSED, FakeDecode
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import UnsatisfiedAssumption

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.damage.damage import Damage
from pytest_videodecode.damage.operators import FlipBytes, Truncate
from pytest_videodecode.errors import DamageError
from pytest_videodecode.failures.store import FailureStore
from pytest_videodecode.fuzz.hunt import DamagedDecodeFailed, DecodeCrashed, DecodeHung, DecodeLostFrames, Hunt
from pytest_videodecode.fuzz.trials import Trials
from pytest_videodecode.model import Clip, DecodeRequest, ErrorInfo, Outcome, OutcomeKind

REQUEST = DecodeRequest(path="", indices=(0,))
ODD = Outcome(kind=OutcomeKind.ERROR, error=ErrorInfo(type="KeyError", message="'pts'", bases=("builtins.KeyError",)))
MakeTrials = Callable[[Callable[[bytes], Outcome | str]], Trials]


def flip(number: int) -> Damage:
    return Damage((FlipBytes(flips=((5000 + number, 255),)),))


def example_once(test: Callable[[], None]) -> Callable[[], None]:
    """``test`` as a property test with one example."""
    once = settings(max_examples=1, database=None, phases=(Phase.generate,), deadline=None)
    return once(given(st.none())(lambda _: test()))


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("hang", DecodeHung),
        (CRASH, DecodeCrashed),
        (Outcome(kind=OutcomeKind.SILENT_LOSS), DecodeLostFrames),
        (ODD, DamagedDecodeFailed),
    ],
)
def test_each_kind_of_failure_has_a_type_of_its_own(
    trials: MakeTrials, store: FailureStore, said: Outcome | str, kind: type[Exception]
) -> None:
    hunt = Hunt(trials(lambda data: said), store, seed=7)
    with pytest.raises(DamagedDecodeFailed) as caught:
        hunt.attempt(flip(0), REQUEST)
    assert type(caught.value) is kind
    (name,) = store.names()
    first, recipe, again = str(caught.value).split("\n")
    asked = "fake on mpeg4.avi with flip 1 byte in media, asked frames by index [0]"
    assert first.startswith(f"{asked}: asked frame 0, got ")
    assert recipe.startswith('  recipe: {"schema":"videodecode-recipe/1","clip":"mpeg4.avi",')
    assert again == f"  again: videodecode replay {store.folder / name} (seed 7)"


def test_outcome_that_is_allowed_is_returned(trials: MakeTrials, store: FailureStore) -> None:
    assert Hunt(trials(lambda data: REFUSED), store).attempt(flip(0), REQUEST).outcome == REFUSED
    assert store.names() == []


def test_failure_is_raised_again_from_memory(trials: MakeTrials, store: FailureStore) -> None:
    said: list[Outcome | str] = [CRASH, REFUSED]
    hunt = Hunt(trials(lambda data: said.pop(0)), store)
    for _ in range(2):
        with pytest.raises(DecodeCrashed):
            hunt.attempt(flip(0), REQUEST)
    assert said == [REFUSED]


def test_only_the_smallest_failure_stays_in_the_store(trials: MakeTrials, store: FailureStore) -> None:
    hunt = Hunt(trials(lambda data: CRASH), store)
    for number in (3, 2, 1):
        with pytest.raises(DecodeCrashed):
            hunt.attempt(flip(number), REQUEST)
    (trial,) = hunt.failures.values()
    assert store.names() == [trial.recipe.id]
    assert trial.recipe.damage == flip(1)


def test_what_an_earlier_run_has_kept_stays(trials: MakeTrials, store: FailureStore) -> None:
    for numbers in ((1,), (1, 2)):
        hunt = Hunt(trials(lambda data: CRASH), store)
        for number in numbers:
            with pytest.raises(DecodeCrashed):
                hunt.attempt(flip(number), REQUEST)
    assert len(store.names()) == 2


def test_known_classes_are_returned(trials: MakeTrials, store: FailureStore) -> None:
    make = trials(lambda data: CRASH)
    first = Hunt(make, store)
    with pytest.raises(DecodeCrashed):
        first.attempt(flip(0), REQUEST)
    assert Hunt(make, store, known=set(first.failures)).attempt(flip(1), REQUEST).outcome == CRASH


def test_after_its_time_nothing_new_is_tried_and_what_failed_still_fails(
    trials: MakeTrials, store: FailureStore
) -> None:
    tried: list[bytes] = []

    def say(data: bytes) -> Outcome:
        tried.append(data)
        return CRASH

    hunt = Hunt(trials(say), store, shrink_s=0)
    with pytest.raises(DecodeCrashed):
        hunt.attempt(flip(0), REQUEST)

    @example_once
    def search() -> None:
        with pytest.raises(UnsatisfiedAssumption):
            hunt.attempt(flip(1), REQUEST)
        with pytest.raises(DecodeCrashed):
            hunt.attempt(flip(0), REQUEST)

    search()
    assert len(tried) == 1


def test_damage_that_does_not_fit_is_no_example(trials: MakeTrials, store: FailureStore) -> None:
    hunt = Hunt(trials(lambda data: REFUSED), store)
    misfit = Damage((Truncate(keep_bytes=999_999),))

    @example_once
    def search() -> None:
        with pytest.raises(UnsatisfiedAssumption):
            hunt.attempt(misfit, REQUEST)

    search()
    with pytest.raises(DamageError):  # outside of a search there is nobody to reject it
        hunt.attempt(misfit, REQUEST)


@pytest.mark.parametrize(("again", "reported"), [("hang", 1), (REFUSED, 0)])
def test_hang_under_the_short_limit_is_confirmed_or_the_first_one_is_reported(
    tmp_path: Path, clip: Clip, clip_cache: ClipCache, again: Outcome | str, reported: int
) -> None:
    said: list[Outcome | str] = ["hang", "hang", *[again] * 4]
    decode = FakeDecode(clip, lambda data: said.pop(0))
    store = FailureStore(tmp_path / "kept")
    hunt = Hunt(decode.trials(clip, tmp_path / "copies", clip_cache), store)
    for number in (0, 1, 1):
        with pytest.raises(DecodeHung) as caught:
            hunt.attempt(flip(number), REQUEST)
    assert decode.limits == [2.0, 0.5, *[2.0] * (1 if again == "hang" else 4)]
    trial = caught.value.trial
    assert trial.recipe.damage == flip(reported)
    assert trial.outcome.hang is not None
    assert trial.outcome.hang.limit_s == 2.0
    assert store.names() == [trial.recipe.id]


def test_store_that_cannot_be_written_in_is_one_more_line(tmp_path: Path, trials: MakeTrials) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DecodeCrashed) as caught:
        Hunt(trials(lambda data: CRASH), FailureStore(tmp_path / "file" / "kept")).attempt(flip(0), REQUEST)
    assert "failures cannot be kept in" in str(caught.value).split("\n")[-1]
