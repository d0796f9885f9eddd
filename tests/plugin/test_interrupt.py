"""Ctrl-C in a decode that hangs."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys

import psutil
import pytest
import rogue
from inner_runs import InnerRuns


def test_ctrl_c_ends_the_run_with_its_summary_and_leaves_no_process(inner: InnerRuns) -> None:
    fifo = inner.pytester.path / "pids"
    os.mkfifo(fifo)
    reading = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    flags = ["--videodecode-decoder=pyav", "--videodecode-decoder=rogue:leaves_grandchildren"]
    with subprocess.Popen(
        [
            *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--pyargs", "pytest_videodecode.suite"),
            *(*flags, "--videodecode-codecs=mpeg4", "--videodecode-checks=determinism", "--videodecode-timeout=600"),
        ],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, rogue.PIDS_ENV: str(fifo)},
    ) as process:
        assert select.select([reading], [], [], 60)[0], "the decoder was not called"
        grandchildren = [psutil.Process(int(pid)) for pid in os.read(reading, 4096).split()]
        workers = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=60)
    os.close(reading)

    assert process.returncode == pytest.ExitCode.INTERRUPTED
    assert "1 verdict: 1 passed (seed 0)" in said.splitlines()
    assert len(grandchildren) == 3
    _, alive = psutil.wait_procs({*grandchildren, *workers}, timeout=10)
    assert [other for other in alive if other.status() != psutil.STATUS_ZOMBIE] == []
