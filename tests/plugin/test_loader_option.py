"""--videodecode-loader and videodecode_loader: checks of streaming loaders in the suite."""

from __future__ import annotations

import shlex

import pytest
from inner_runs import InnerRuns

from pytest_videodecode.cli import main

GOOD = "planted_loaders:Good"


def test_loader_is_checked_beside_decoders(inner: InnerRuns) -> None:
    ran = inner.suite(loader=GOOD, checks="determinism,sample_coverage,sample_identity")

    ran.result.assert_outcomes(passed=3)
    assert [(v["decoder"], v["check"]) for v in ran.verdicts] == [
        ("rogue:well_behaved", "determinism"),
        ("loader planted_loaders:Good", "sample_coverage"),
        ("loader planted_loaders:Good", "sample_identity"),
    ]
    assert ran.verdicts[1]["clip"] == "6 episodes, 2 cameras"
    assert ran.matrix == [
        ["determinism"],
        ["rogue:well_behaved", "1/1"],
        ["sample_coverage", "sample_identity"],
        ["loader", GOOD, "1/1", "1/1"],
    ]


def test_flag_may_be_repeated_and_ini_key_has_one_a_line(inner: InnerRuns) -> None:
    inner.pytester.makeini(f"[pytest]\nvideodecode_loader =\n    {GOOD}\n    planted_loaders:LosesASample\n")
    flags = (f"--videodecode-loader={GOOD}", "--videodecode-loader=planted_loaders:BlankPadding")

    by_ini = inner.suite(checks="sample_coverage")
    by_flags = inner.suite(*flags, checks="sample_coverage")

    by_ini.result.assert_outcomes(passed=1, failed=1)
    assert [v["decoder"] for v in by_flags.verdicts] == [f"loader {GOOD}", "loader planted_loaders:BlankPadding"]


def test_without_a_loader_there_is_nothing_of_it(inner: InnerRuns) -> None:
    assert "test_loader" not in inner.suite("-v").out


def test_checks_of_loaders_leave_decoders_alone(inner: InnerRuns) -> None:
    ran = inner.suite(loader=GOOD, checks="sample_padding")

    ran.result.assert_outcomes(passed=1)
    assert ran.matrix == [["sample_padding"], ["loader", GOOD, "1/1"]]


def test_failure_says_what_came_and_its_command_shows_it_again(
    inner: InnerRuns, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = inner.suite(loader="planted_loaders:LosesASample", checks="sample_coverage")

    ran.result.assert_outcomes(failed=1)
    said = "asked 60 samples, each once, got: 1 samples never came: episode "
    assert ran.verdict["reason"].startswith(said)
    assert ran.verdict["replay"] == "videodecode check --loader planted_loaders:LosesASample --checks sample_coverage"
    assert main(shlex.split(ran.verdict["replay"])[1:]) == 1
    assert f"FAILED sample_coverage of loader planted_loaders:LosesASample on 6 episodes, 2 cameras: {said}" in (
        capsys.readouterr().out
    )


def test_hang_is_a_verdict_and_the_next_check_is_made(inner: InnerRuns) -> None:
    ran = inner.suite(loader="planted_loaders:Hangs", checks="sample_coverage,sample_identity", timeout="0.5")

    assert [v["status"] for v in ran.verdicts] == ["failed", "passed"]
    assert ran.verdicts[0]["reason"] == "asked 60 samples, each once, got: 4 samples, then nothing for 0.5 s"


def test_crash_is_a_verdict(inner: InnerRuns) -> None:
    ran = inner.suite(loader="planted_loaders:Crashes", checks="sample_coverage")

    assert ran.verdict["reason"].endswith("got: 4 samples, then a crash (SIGSEGV)")


def test_loader_that_cannot_be_loaded_costs_its_own_tests_only(inner: InnerRuns) -> None:
    ran = inner.suite("--videodecode-loader=planted_loaders:NoSuchClass", loader=GOOD, checks="sample_coverage")

    assert [v["status"] for v in ran.verdicts] == ["passed", "error"]
    assert ran.verdicts[1]["reason"] == (
        "loader planted_loaders:NoSuchClass: module planted_loaders has no class 'NoSuchClass'"
    )


def test_check_that_cannot_be_made_is_unsupported_and_may_be_required(inner: InnerRuns) -> None:
    without_state = {"loader": "planted_loaders:HasNoState", "checks": "resume"}

    assert inner.suite(**without_state).verdict["status"] == "unsupported"
    assert inner.suite(**without_state, require="resume").verdict["reason"] == (
        "required, but unsupported: it has no state_dict and load_state_dict"
    )


def test_name_that_is_no_loader_is_a_usage_error(inner: InnerRuns) -> None:
    assert inner.suite(loader="prodcution").usage_error == (
        "--videodecode-loader: loader 'prodcution' is unknown; write NAME[,option=value…][@PYTHON], "
        "NAME one of production, lerobot or module:Class"
    )
