"""The checks by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from pytest_videodecode.checks.base import Check
from pytest_videodecode.checks.damage_outcome import damage_outcome
from pytest_videodecode.checks.determinism import determinism
from pytest_videodecode.checks.early_exit import early_exit
from pytest_videodecode.checks.frame_identity import frame_identity
from pytest_videodecode.checks.outcome_parity import outcome_parity
from pytest_videodecode.checks.seek_fallback import seek_fallback
from pytest_videodecode.checks.seek_parity import seek_parity
from pytest_videodecode.checks.silent_loss import silent_loss
from pytest_videodecode.checks.thread_cap import thread_cap
from pytest_videodecode.checks.thread_parity import thread_parity
from pytest_videodecode.errors import OptionError

_IN_ORDER: tuple[Check, ...] = (
    frame_identity,
    thread_parity,
    seek_parity,
    seek_fallback,
    thread_cap,
    determinism,
    damage_outcome,
    silent_loss,
    outcome_parity,
    early_exit,
)

#: Every check, in the order in which they run: the later ones make sense of less when an earlier one fails.
CHECKS: Mapping[str, Check] = MappingProxyType({check.__name__: check for check in _IN_ORDER})


def select(names: Iterable[str] = ()) -> tuple[Check, ...]:
    """The checks of these names in running order, each once; all of them where no name is given.

    Raises:
        OptionError: a name that is no check's, with the names that are.
    """
    wanted = set(names)
    if unknown := sorted(wanted - set(CHECKS)):
        raise OptionError(f"there is no check {unknown[0]!r}; choose from {', '.join(CHECKS)}")
    return tuple(check for name, check in CHECKS.items() if name in wanted or not wanted)
