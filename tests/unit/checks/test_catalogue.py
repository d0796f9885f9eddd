from __future__ import annotations

import pytest

from pytest_videodecode.checks.catalogue import CHECKS, select
from pytest_videodecode.errors import OptionError


def test_checks_are_known_by_the_names_of_their_functions() -> None:
    assert list(CHECKS) == [
        "frame_identity", "thread_parity", "seek_parity", "seek_fallback", "thread_cap", "determinism",
        "damage_outcome", "silent_loss", "outcome_parity", "early_exit",
    ]  # fmt: skip
    assert all(name == check.__name__ for name, check in CHECKS.items())


def test_selected_checks_come_in_running_order_and_once() -> None:
    assert select(["determinism", "thread_parity", "determinism"]) == (CHECKS["thread_parity"], CHECKS["determinism"])


def test_no_name_selects_all() -> None:
    assert select() == select([]) == tuple(CHECKS.values())


def test_unknown_check_is_named_with_those_that_exist() -> None:
    with pytest.raises(OptionError, match=r"there is no check 'seek'; choose from frame_identity, .*early_exit$"):
        select(["determinism", "seek"])
