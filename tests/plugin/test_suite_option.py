"""--videodecode-suite and --pyargs pytest_videodecode.suite: the same tests, with names to pick them by."""

from __future__ import annotations

import pytest
from inner_runs import InnerRuns

IDS = [
    "test_decoders.py::test_check[pyav-mpeg4-frame_identity]",
    "test_decoders.py::test_check[pyav-mpeg4-determinism]",
    "test_decoders.py::test_check[pyav-h264-frame_identity]",
    "test_decoders.py::test_check[pyav-h264-determinism]",
]
FLAGS = (
    "--videodecode-decoder=pyav",
    "--videodecode-codecs=mpeg4,h264",
    "--videodecode-checks=determinism,frame_identity",
)


@pytest.mark.parametrize(
    "suite", [("--videodecode-suite",), ("--pyargs", "pytest_videodecode.suite")], ids=["flag", "pyargs"]
)
def test_both_ways_collect_the_same_tests(inner: InnerRuns, suite: tuple[str, ...]) -> None:
    ran = inner.tests(*suite, *FLAGS, "--collect-only", "-q")

    assert [line for line in ran.result.outlines if "::" in line] == IDS


def test_collecting_makes_no_clip_and_no_report(inner: InnerRuns, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIDEODECODE_CACHE", str(inner.pytester.path / "cache"))

    inner.suite("--collect-only")

    assert list(inner.pytester.path.iterdir()) == []


def test_suite_is_added_to_the_tests_that_are_there(inner: InnerRuns) -> None:
    inner.pytester.makepyfile(test_own="def test_own(): pass")

    inner.suite().result.assert_outcomes(passed=2)


def test_tests_can_be_picked_by_their_ids(inner: InnerRuns) -> None:
    ran = inner.suite("-k", "determinism and h264", codecs="mpeg4,h264", checks="frame_identity,determinism")

    ran.result.assert_outcomes(passed=1, deselected=3)
    assert (ran.verdict["check"], ran.verdict["clip"]) == ("determinism", "h264")


def test_pattern_of_the_project_for_test_files_does_not_leave_the_suite_out(inner: InnerRuns) -> None:
    inner.pytester.makeini("[pytest]\npython_files = check_*.py\n")

    inner.suite().result.assert_outcomes(passed=1)
    assert "4 tests collected" in inner.tests("--pyargs", "pytest_videodecode.suite", *FLAGS, "--collect-only").out


def test_failure_is_told_without_a_line_of_the_plugin(inner: InnerRuns) -> None:
    ran = inner.suite(decoder="rogue:nothing")

    ran.result.assert_outcomes(failed=1)
    assert "test_decoders.py:" not in ran.out.partition("short test summary")[0]
    assert "Traceback" not in ran.out
    assert "During handling" not in ran.out
