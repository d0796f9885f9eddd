"""One search for failures by Hypothesis: what a damaged decode raises, so that it shrinks well and in bounded time."""

from __future__ import annotations

import json
import math
import shlex
import time
from collections.abc import Callable, Container, Mapping

import hypothesis

from pytest_videodecode.checks.base import one_line
from pytest_videodecode.damage.damage import Damage
from pytest_videodecode.damage.recipe import OutcomeClass
from pytest_videodecode.errors import CheckFailed, DamageError
from pytest_videodecode.failures.store import FailureStore
from pytest_videodecode.fuzz.trials import Trial, Trials
from pytest_videodecode.jsonform import to_json
from pytest_videodecode.model import DecodeRequest, OutcomeKind

#: How long after its first failure a hunt tries new examples; then the smallest one is taken as it is.
SHRINK_S = 30.0

# A deadlock may come in every second try only; one that does not come costs no limit.
_CONFIRMATIONS = 4

_LONGEST_RECIPE = 1000


class DamagedDecodeFailed(CheckFailed):
    """A damaged decode came to an end that it must not have; ``trial`` is all about it.

    Hypothesis tells failures apart by the type of their exception: there is one for each kind of outcome, so that a
    hang is shrunk to a smaller hang and not to some other failure.
    """

    def __init__(self, trial: Trial, message: str) -> None:
        super().__init__(message)
        self.trial = trial


class DecodeHung(DamagedDecodeFailed):
    """It did not end within its limit."""


class DecodeCrashed(DamagedDecodeFailed):
    """It ended the process."""


class DecodeOutOfMemory(DamagedDecodeFailed):
    """It took more memory than it may."""


class DecodeLostFrames(DamagedDecodeFailed):
    """Frames were missing, and there was no error."""


_RAISED: Mapping[OutcomeKind, type[DamagedDecodeFailed]] = {
    OutcomeKind.HANG: DecodeHung,
    OutcomeKind.CRASH: DecodeCrashed,
    OutcomeKind.OUT_OF_MEMORY: DecodeOutOfMemory,
    OutcomeKind.SILENT_LOSS: DecodeLostFrames,
}


class Hunt:
    """Tries examples, raises for those that fail, keeps the smallest of each class in ``store``.

    A failure is raised again from memory, never by decoding again: concealment and deadlocks depend on the timing of
    threads, and Hypothesis must see the same example fail twice. Only what hung under a shortened limit is decoded
    once more under the full one before it is reported. Failures of ``known`` classes are returned, not raised.
    ``tell`` hears of every trial that was made.
    """

    def __init__(
        self,
        trials: Trials,
        store: FailureStore,
        *,
        seed: int = 0,
        known: Container[OutcomeClass] = (),
        shrink_s: float = SHRINK_S,
        tell: Callable[[Trial], None] = lambda trial: None,
    ) -> None:
        self._trials = trials
        self._store = store
        self._seed = seed
        self._known = known
        self._shrink_s = shrink_s
        self._tell = tell
        self._failed: dict[str, Trial] = {}
        self._own: set[str] = set()
        self._not_kept = ""
        self._until = math.inf
        self.failures: dict[OutcomeClass, Trial] = {}

    def attempt(self, damage: Damage, request: DecodeRequest) -> Trial:
        """Decode with ``damage`` as ``request`` asks; an example of Hypothesis that does not fit the clip is rejected.

        Raises:
            DamageError: the damage does not fit the clip, and this is no example.
            DamagedDecodeFailed: what came must not come. The message has the recipe and the command to replay it.
        """
        seen = self._failed.get(self._trials.recipe(damage, request).id)
        if seen is None:
            searching = hypothesis.currently_in_test_context()
            if searching and time.monotonic() > self._until:
                hypothesis.reject()
            try:
                trial = self._trials.make(damage, request)
            except DamageError:
                if searching:
                    hypothesis.reject()
                raise
            self._tell(trial)
            if not trial.fault or trial.outcome_class in self._known:
                return trial
        else:
            trial = self._confirmed(seen)
        self._note(trial)
        raise _RAISED.get(trial.outcome.kind, DamagedDecodeFailed)(trial, self._message(trial)) from None

    def _confirmed(self, trial: Trial) -> Trial:
        """``trial``; a hang as it comes under the full limit, or where it does not come, the last one that did."""
        if trial.outcome.hang is None or self._is_full(trial):
            return trial
        for _ in range(_CONFIRMATIONS):
            again = self._trials.make(trial.recipe.damage, trial.recipe.request, self._trials.limit.first_s)
            if again.outcome.hang:
                return again
        return next((each for each in reversed(self._failed.values()) if self._is_full(each)), trial)

    def _is_full(self, trial: Trial) -> bool:
        hang = trial.outcome.hang
        return hang is not None and hang.limit_s >= self._trials.limit.first_s

    def _note(self, trial: Trial) -> None:
        if not self._failed:
            self._until = time.monotonic() + self._shrink_s
        self._failed[trial.recipe.id] = trial
        before = self.failures.get(trial.outcome_class)
        if before is not trial:
            self.failures[trial.outcome_class] = trial
            self._keep(trial, before)

    def _keep(self, trial: Trial, before: Trial | None) -> None:
        """Keep ``trial`` in the place of ``before``; what an earlier run has kept stays."""
        if before and before.recipe.id in self._own:
            self._store.discard(before.recipe.id)
        if trial.recipe.id not in self._store.names():
            self._own.add(trial.recipe.id)
        try:
            self._store.keep(trial.recipe, self._trials.write(trial.recipe.damage), trial.outcome, trial.fault)
        except DamageError as error:
            self._not_kept = str(error)

    def _message(self, trial: Trial) -> str:
        recipe = trial.recipe
        text = json.dumps(to_json(recipe), separators=(",", ":"))
        lines = [
            f"{recipe.decoder} on {recipe.clip} with {one_line(recipe.damage)}, asked {recipe.request}: {trial.fault}",
            f"  recipe: {one_line(text, _LONGEST_RECIPE)}",
            f"  again: {shlex.join(self._store.replay(recipe.id))} (seed {self._seed})",
        ]
        return "\n".join([*lines, f"  {self._not_kept}"] if self._not_kept else lines)
