"""Property tests of one's own: the settings of Hypothesis they need, and the hunts behind ``assert_damaged``."""

from __future__ import annotations

from functools import partial

import hypothesis
from hypothesis import HealthCheck, Phase

from pytest_videodecode.checks.base import ALLOWED_ERRORS
from pytest_videodecode.damage.damage import Damage, digest
from pytest_videodecode.failures.store import FOLDER, FailureStore
from pytest_videodecode.fuzz.hunt import Hunt
from pytest_videodecode.fuzz.trials import Trials
from pytest_videodecode.model import Clip, DecodeRequest, Outcome
from pytest_videodecode.session import Session

#: For tests that decode: no deadline (a decode has its own limit, in the worker), one failure at a time, and neither
#: the phase that explains a failure by decoding variants of it nor health checks that measure how examples are drawn.
damage_settings = hypothesis.settings(
    deadline=None,
    report_multiple_bugs=False,
    phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much),
)


class Hunts:
    """The hunts of one run, each for one test, decoder and clip; what is measured of a clip serves all tests."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._trials: dict[tuple[str, str], Trials] = {}
        self._hunts: dict[tuple[str, str, str], Hunt] = {}

    def attempt(self, test: str, decoder: str, clip: Clip, damage: Damage, request: DecodeRequest) -> Outcome:
        """What came of ``request`` with ``damage``, without its pixels; raises as ``Hunt.attempt`` does."""
        key = (test, decoder, clip.path)
        if key not in self._hunts:
            store = FailureStore(self._session.folder / FOLDER)
            self._hunts[key] = Hunt(self._trials_for(decoder, clip), store, seed=self._session.settings.seed)
        return self._hunts[key].attempt(damage, request).outcome

    def _trials_for(self, decoder: str, clip: Clip) -> Trials:
        key, session = (decoder, clip.path), self._session
        if key not in self._trials:
            self._trials[key] = Trials(
                clip,
                session.info(decoder),
                partial(session.decode, decoder),
                session.scratch / digest(list(key)),
                session.clips,
                most_s=session.settings.timeout,
                allowed=session.settings.allowed_errors or ALLOWED_ERRORS,
            )
        return self._trials[key]
