"""The same run spread over processes, and the plugin named instead of found."""

from __future__ import annotations

import pytest
from inner_runs import InnerRuns

from pytest_videodecode import __version__

SETTINGS = {"decoder": "pyav", "codecs": "mpeg4,h264", "checks": "determinism,frame_identity"}


def test_verdicts_summary_and_report_are_those_of_one_process(inner: InnerRuns) -> None:
    alone = inner.suite("--videodecode-decoder=rogue:too_few", **SETTINGS)
    spread = inner.suite_apart("--videodecode-decoder=rogue:too_few", "-n2", **SETTINGS)

    def essence(verdicts: list[dict[str, str]]) -> list[list[str]]:
        return [
            [verdict[key] for key in ("check", "decoder", "clip", "status", "reason", "replay")]
            for verdict in verdicts
        ]

    spread.result.assert_outcomes(passed=4, failed=4)
    assert essence(spread.verdicts) == essence(alone.verdicts)
    assert spread.summary == alone.summary
    assert spread.matrix[0] == ["frame_identity", "determinism"]
    assert spread.out.count("report: out/results.json") == 1
    assert spread.out.count(f"\nvideodecode {__version__}: ") == 1


def test_plugin_named_with_autoload_off_and_a_worker_that_does_not_end(
    inner: InnerRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    inner.pytester.makepyfile(
        test_own="""
        def test_one(videodecode, worker_id):
            assert worker_id in ("gw0", "gw1")
            videodecode.assert_check("frame_identity", "mpeg4", "pyav")
            assert videodecode.decode("any", [0], decoder="rogue:hangs_at_exit").kind == "frames"

        def test_two(videodecode):
            videodecode.assert_check("determinism", "mpeg4", "pyav")
        """
    )

    result = inner.pytester.runpytest_subprocess("-p", "xdist", "-p", "videodecode", "-n2", "--videodecode-seed=3")

    result.assert_outcomes(passed=2)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            f"videodecode {__version__}: production on *",
            "3 verdicts: 2 passed, 1 failed (seed 3)",
            " *frame_identity *determinism *worker_exit",
            "pyav *1/1 *1/1*",
            "rogue:hangs_at_exit * 0/1 FAILED",
            "FAILED worker_exit of rogue:hangs_at_exit: its worker did not end by itself: hang *",
        ],
        consecutive=False,
    )


def test_usage_error_is_said_once(inner: InnerRuns) -> None:
    assert inner.suite_apart("-n2", codecs="nope").usage_error.startswith("--videodecode-codecs: ")


def test_expected_and_required_verdicts_hold_in_all_processes(inner: InnerRuns) -> None:
    inner.file(
        "known.toml",
        """
        [[expected]]
        clip = "*"
        check = "frame_identity"
        status = "failed"
        reason = "it leaves out one picture"
        """,
    )

    ran = inner.suite_apart(
        "-n2",
        decoder="rogue:too_few",
        codecs="mpeg4,h264",
        checks="frame_identity,thread_parity",
        expected="known.toml",
        require="thread_parity",
    )

    ran.result.assert_outcomes(xfailed=2, failed=2)
    assert ran.summary[0] == "4 verdicts: 4 failed, 2 of them as expected (seed 0)"
