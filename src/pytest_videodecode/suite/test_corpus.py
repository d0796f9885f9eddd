"""Every recipe of the corpus on every decoder that the run names."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_videodecode.errors import CheckFailed, DeadlinePassed


def test_recipe(videodecode_corpus: Callable[[], None]) -> None:
    """One damaged decode that once mattered; its verdict is in the summary and the report."""
    try:
        videodecode_corpus()
    except (CheckFailed, DeadlinePassed) as failure:
        # the message is all there is to say: no line of this file would help to understand it
        raise pytest.fail.Exception(str(failure), pytrace=False) from None
