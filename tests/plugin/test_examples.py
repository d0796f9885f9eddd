"""The worked examples of the README, run as a user would run them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from inner_runs import InnerRuns

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.isolation.census import thread_names
from pytest_videodecode.model import ClipSpec

LIMIT_S = 2


@pytest.fixture
def deadlock(pytester: pytest.Pytester, inner: InnerRuns, clip_cache: ClipCache) -> Path:
    """The example in a folder of its own; its clip is made beforehand, so that only the decode takes time."""
    del inner
    clip_cache.clip(ClipSpec(codec="h264", width=1280, height=720, frames=48))
    pytester.copy_example("deadlock")
    return pytester.path


def test_deadlock_is_one_failed_test_and_the_run_goes_on(pytester: pytest.Pytester, deadlock: Path) -> None:
    result = pytester.runpytest_subprocess("test_with_videodecode.py", f"--videodecode-timeout={2 * LIMIT_S}")
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["*hang in close after 4 s, GIL held*"])
    assert not any(deadlock.glob(".videodecode/journal/*"))


@pytest.mark.parametrize("method", ["signal", "thread"])
def test_deadlock_outlives_both_methods_of_pytest_timeout(deadlock: Path, method: str) -> None:
    command = [sys.executable, "-m", "pytest", f"--timeout={LIMIT_S}", f"--timeout-method={method}"]
    process = subprocess.Popen(
        [*command, "test_with_pytest_timeout.py"],
        cwd=deadlock,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        while not any(name.startswith("av:h264") for name in thread_names(process.pid)):
            assert process.poll() is None, "it ended before it decoded"
            time.sleep(0.05)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(3 * LIMIT_S)
        assert psutil.Process(process.pid).status() != psutil.STATUS_ZOMBIE
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
