"""The summary section: matrix, failures with their replay command, what was not checked."""

from __future__ import annotations

import subprocess
import sys

import pytest
from inner_runs import InnerRuns


def test_run_without_a_verdict_has_no_summary(inner: InnerRuns) -> None:
    inner.pytester.makepyfile(test_own="def test_own(videodecode): videodecode.info('rogue:nothing')")

    ran = inner.tests()

    ran.result.assert_outcomes(passed=1)
    assert "videodecode" not in ran.out.partition("collected 1 item")[2]


def test_matrix_has_a_row_per_decoder_and_a_column_per_check_in_their_order(inner: InnerRuns) -> None:
    ran = inner.suite(
        "--videodecode-decoder=rogue:well_behaved",
        decoder="pyav",
        checks="determinism,thread_parity,frame_identity",
        codecs="mpeg4:frames=12:gop=4,mpeg4:frames=12",
    )

    assert ran.summary[0] == "12 verdicts: 8 passed, 2 failed, 2 unsupported (seed 0)"
    assert ran.matrix == [
        ["frame_identity", "thread_parity", "determinism"],
        ["pyav", "2/2", "2/2", "2/2"],
        ["rogue:well_behaved", "0/2!", "unsupported", "2/2"],
    ]


def test_columns_keep_their_order_whatever_a_test_made_first(inner: InnerRuns) -> None:
    inner.pytester.makepyfile(
        test_own="""
        def test_own(videodecode):
            videodecode.run_check("determinism", "mpeg4", "rogue:nothing")
            videodecode.run_check("frame_identity", "mpeg4:frames=12", "rogue:nothing")
        """
    )

    assert inner.tests("--videodecode-codecs=mpeg4").matrix[0] == ["frame_identity", "determinism"]


def test_failure_has_a_command_that_shows_it_again(inner: InnerRuns) -> None:
    inner.pytester.makepyfile(mylab="def decode(path, indices): return 'no pictures'")

    ran = inner.suite(decoder="mylab:decode", codecs="mpeg4:gop=4:frames=12")

    place = next(n for n, line in enumerate(ran.summary) if line.startswith("FAILED "))
    assert ran.summary[place] == (
        f"FAILED determinism of mylab:decode on mpeg4:frames=12:gop=4: {ran.verdict['reason']}"
    )
    command = ran.summary[place + 1].removeprefix("  again: ")
    assert command == ran.verdict["replay"]
    words = command.split()
    assert words[0] == "videodecode"
    again = subprocess.run(
        [sys.executable, "-m", "pytest_videodecode", *words[1:]], capture_output=True, text=True, check=False
    )
    assert again.returncode == 1
    assert ran.summary[place] in again.stdout.splitlines()


def test_worker_that_does_not_end_fails_the_run_with_a_row_of_its_own(inner: InnerRuns) -> None:
    inner.pytester.makepyfile(
        test_own="""
        def test_own(videodecode):
            assert videodecode.decode("any", [0], decoder="rogue:hangs_at_exit").kind == "frames"
        """
    )

    ran = inner.tests("--videodecode-report=out")

    ran.result.assert_outcomes(passed=1)
    assert ran.code == pytest.ExitCode.TESTS_FAILED
    assert (ran.verdict["check"], ran.verdict["decoder"]) == ("worker_exit", "rogue:hangs_at_exit")
    assert ran.verdict["status"] == "failed"
    assert ran.verdict["evidence"]["gil_held"] is True
    assert ran.matrix == [["worker_exit"], ["rogue:hangs_at_exit", "0/1!"]]
    assert ran.summary[4].startswith(
        "FAILED worker_exit of rogue:hangs_at_exit: its worker did not end by itself: hang "
    )
    assert ran.summary[5] == "  again: videodecode check rogue:hangs_at_exit"
