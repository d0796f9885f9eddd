"""Every check of every streaming loader that the run names."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_videodecode.errors import CheckFailed, DeadlinePassed


def test_loader(videodecode_loader: Callable[[], None]) -> None:
    """One check on one loader; its verdict is in the summary and the report."""
    try:
        videodecode_loader()
    except (CheckFailed, DeadlinePassed) as failure:
        # the message is all there is to say: no line of this file would help to understand it
        raise pytest.fail.Exception(str(failure), pytrace=False) from None
