"""The search from the shell: rounds of examples over the clips, until time or examples are used up."""

from __future__ import annotations

import math
import time
import unittest
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity, given
from hypothesis.database import DirectoryBasedExampleDatabase

from pytest_videodecode.damage.damage import Damage, digest
from pytest_videodecode.damage.recipe import OutcomeClass
from pytest_videodecode.damage.strategies import damages, decode_requests
from pytest_videodecode.failures.store import FailureStore
from pytest_videodecode.fuzz.hunt import SHRINK_S, DamagedDecodeFailed, Hunt
from pytest_videodecode.fuzz.trials import Trial, Trials
from pytest_videodecode.model import DecodeRequest

#: Examples of one round on one clip; between rounds the next clip has its turn.
ROUND = 50

#: Hypothesis' examples, under the folder of the run; every decoder and clip has a folder of its own there.
DATABASE = Path(".videodecode") / "hypothesis"


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """How much is searched. ``examples`` and ``seconds`` are for all clips together; one of them is None."""

    seed: int = 0
    examples: int | None = None
    seconds: float | None = None
    shrink_s: float = SHRINK_S


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """Something worth telling: a clip's first outcome of a class, or a failure that was shrunk (``id``) and kept.

    ``example`` counts those on the clip, from 1. Without ``outcome`` it says only how far the search is.
    """

    clip: str
    example: int
    outcome: str = ""
    fault: str = ""
    id: str = ""


@dataclass(kw_only=True, slots=True)
class Tally:
    """What came on one clip: examples by outcome class, and the classes that are failures."""

    clip: str
    examples: int = 0
    classes: dict[str, int] = field(default_factory=dict)
    failed: tuple[str, ...] = ()


class Search:
    """One search of a decoder over clips, each given by its ``Trials``; ``tell`` hears of what is seen.

    Examples that once failed, in this folder or by another process with the same database, are tried again first.
    """

    def __init__(
        self,
        trials: Sequence[Trials],
        store: FailureStore,
        database: Path,
        plan: Plan,
        tell: Callable[[Seen], None],
    ) -> None:
        self._trials = trials
        self._store = store
        self._database = database
        self._plan = plan
        self._tell = tell
        self._until = time.monotonic() + plan.seconds if plan.seconds is not None else math.inf
        self._known: set[tuple[str, OutcomeClass]] = set()
        self.tallies = [Tally(clip=each.clip.name) for each in trials]

    def run(self) -> None:
        """Search; ends when the plan is used up, and after a failure that was found just before has been shrunk."""
        number = 0
        with suppress(_UsedUp):
            for trials, tally in zip(self._trials, self.tallies, strict=True):
                self._round(trials, tally, number, (Phase.reuse,))
            while True:
                for trials, tally in zip(self._trials, self.tallies, strict=True):
                    number += 1
                    self._round(trials, tally, number, (Phase.generate, Phase.shrink))

    def _round(self, trials: Trials, tally: Tally, number: int, phases: tuple[Phase, ...]) -> None:
        again = Phase.reuse in phases
        seed = self._plan.seed * 1_000_003 + number
        hunt = Hunt(
            trials,
            self._store,
            seed=self._plan.seed,
            known={outcome_class for clip, outcome_class in self._known if clip == tally.clip},
            shrink_s=math.inf if again else self._plan.shrink_s,
            tell=lambda trial: self._count(tally, trial),
        )

        def example(damage: Damage, request: DecodeRequest) -> None:
            if not hunt.failures and not again:
                self._go_on()
            hunt.attempt(damage, request)

        search = given(damage=damages(trials.clip), request=decode_requests(trials.clip, trials.info))(example)
        search = hypothesis.settings(
            max_examples=ROUND,
            phases=phases,
            database=DirectoryBasedExampleDatabase(self._database / digest([trials.info.name, trials.clip.name])),
            deadline=None,
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=again,  # what else fails is found by the next round, once this one is shrunk
            verbosity=Verbosity.quiet,
            print_blob=False,
        )(hypothesis.seed(seed)(search))
        try:
            search()
        except* (DamagedDecodeFailed, unittest.SkipTest):  # the latter says that there is nothing to be tried again
            pass
        for outcome_class, trial in hunt.failures.items():
            self._known.add((tally.clip, outcome_class))
            tally.failed = tuple(sorted({*tally.failed, str(outcome_class)}))
            self._tell(
                Seen(
                    clip=tally.clip,
                    example=tally.examples,
                    outcome=str(outcome_class),
                    fault=f"{trial.recipe.damage}, {trial.recipe.request}: {trial.fault}",
                    id=trial.recipe.id,
                )
            )

    def _go_on(self) -> None:
        if time.monotonic() >= self._until:
            raise _UsedUp
        if self._plan.examples is not None and sum(each.examples for each in self.tallies) >= self._plan.examples:
            raise _UsedUp

    def _count(self, tally: Tally, trial: Trial) -> None:
        name = str(trial.outcome_class)
        tally.examples += 1
        tally.classes[name] = tally.classes.get(name, 0) + 1
        self._tell(Seen(clip=tally.clip, example=tally.examples, outcome="" if tally.classes[name] > 1 else name))


class _UsedUp(BaseException):
    """Not an ``Exception``: Hypothesis lets it through at once, and takes it for no failure."""
