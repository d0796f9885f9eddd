"""pytest-timeout's limit, passing during an isolated decode, ends that one test, whatever its method."""

from __future__ import annotations

import os

import psutil
import pytest
from inner_runs import InnerRuns

TESTS = """
import pytest

@pytest.mark.timeout(2)
@pytest.mark.parametrize("function", ["hangs_with_the_gil", "waits_for_ever"])
def test_decode_that_hangs(videodecode, function):
    videodecode.decode("any.mp4", [0], decoder=f"rogue:{function}")

@pytest.mark.timeout(2)
def test_check_that_hangs(videodecode):
    videodecode.assert_check("determinism", "mpeg4", "rogue:hangs_with_the_gil")

def test_that_comes_after(videodecode):
    assert videodecode.decode("any.mp4", [0], decoder="rogue:well_behaved").kind == "frames"
"""


@pytest.mark.parametrize("method", ["signal", "thread"])
def test_limit_of_the_test_ends_the_decode_and_nothing_else(
    pytester: pytest.Pytester, inner: InnerRuns, method: str
) -> None:
    del inner
    pytester.makepyfile(test_limits=TESTS)
    result = pytester.runpytest_subprocess(f"--timeout-method={method}")
    result.assert_outcomes(failed=3, passed=1)
    result.stdout.fnmatch_lines(
        [
            "*DeadlinePassed: the time limit of the test came while rogue:hangs_with_the_gil was asked for frames by "
            "index [[]0[]]: hang* GIL held*",
            "*DeadlinePassed: *rogue:waits_for_ever* GIL released*",
        ]
    )
    here = [process for process in psutil.process_iter(["cwd"]) if process.info["cwd"] == str(pytester.path)]
    assert [process.pid for process in here] == [os.getpid()], "only the outer test is left in this folder"
