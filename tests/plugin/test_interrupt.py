"""Ctrl-C in a decode that hangs."""

from __future__ import annotations

import sys

import pytest
from inner_runs import InnerRuns
from interrupted import interrupt


def test_ctrl_c_ends_the_run_with_its_summary_and_leaves_no_process(inner: InnerRuns) -> None:
    came = interrupt(
        [
            *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--pyargs", "pytest_videodecode.suite"),
            *("--videodecode-decoder=pyav", "--videodecode-decoder=rogue:leaves_grandchildren"),
            *("--videodecode-codecs=mpeg4", "--videodecode-checks=determinism", "--videodecode-timeout=600"),
        ],
        inner.pytester.path,
    )

    assert came.status == pytest.ExitCode.INTERRUPTED
    assert "1 verdict: 1 passed (seed 0)" in came.out.splitlines()
    assert (came.grandchildren, came.survivors) == (3, [])
