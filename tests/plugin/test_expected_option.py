"""--videodecode-expected and videodecode_expected: verdicts known to be otherwise."""

from __future__ import annotations

import pytest
from inner_runs import InnerRuns

TOO_FEW = {"decoder": "rogue:too_few", "checks": "frame_identity"}
ENTRY = """
[[expected]]
clip = "mpeg4"
check = "frame_identity"
decoder = "{decoder}"
status = "failed"
match = "{match}"
reason = "it leaves out one picture, see the tracker"
"""


def test_expected_failure_is_xfailed_and_counted(inner: InnerRuns) -> None:
    inner.file("known.toml", ENTRY.format(decoder="rogue:*", match="8 pictures came for 9 asked"))

    ran = inner.suite(**TOO_FEW, expected="known.toml")

    ran.result.assert_outcomes(xfailed=1)
    assert ran.code == pytest.ExitCode.OK
    assert ran.verdict["status"] == "failed"
    assert ran.verdict["expected"] == "it leaves out one picture, see the tracker"
    assert ran.summary[0] == "1 verdict: 1 failed, 1 of them as expected (seed 0)"
    assert ran.matrix == [["frame_identity"], ["rogue:too_few", "1/1"]]
    assert "1 x as expected: it leaves out one picture, see the tracker (frame_identity on mpeg4)" in ran.summary


def test_one_that_has_vanished_fails(inner: InnerRuns) -> None:
    inner.file("known.toml", ENTRY.format(decoder="*", match=""))

    ran = inner.suite(checks="frame_identity", decoder="pyav", expected="known.toml")

    ran.result.assert_outcomes(failed=1)
    assert ran.verdict["reason"] == (
        "expected failed because it leaves out one picture, see the tracker; now it is passed; "
        "bring the expected verdict up to date"
    )


def test_one_that_fails_otherwise_than_expected_fails(inner: InnerRuns) -> None:
    inner.file("known.toml", ENTRY.format(decoder="*", match="frame 17"))

    ran = inner.suite(**TOO_FEW, expected="known.toml")

    ran.result.assert_outcomes(failed=1)
    assert ran.verdict["reason"].startswith("expected failed (frame 17) because ")
    assert "now it is failed: asked frame 0, got " in ran.verdict["reason"]


def test_ini_key_is_relative_to_its_file_and_empty_flag_counts_against_it(
    inner: InnerRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner.file("known.toml", ENTRY.format(decoder="*", match=""))
    inner.pytester.makeini("[pytest]\nvideodecode_expected = known.toml\n")
    elsewhere = inner.pytester.path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    here = ("--rootdir=..", "-c", "../tox.ini")

    inner.suite(*here, **TOO_FEW).result.assert_outcomes(xfailed=1)
    inner.suite(*here, **TOO_FEW, expected="").result.assert_outcomes(failed=1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[expected]\n", "not TOML"),
        ("[[expected]]\nclip = 'a'\n", "expected[0]: field 'check' is missing"),
        (ENTRY.format(decoder="*", match="").replace('"failed"', '"broken"'), "'broken' is none of passed, failed"),
        (ENTRY.format(decoder="*", match="") + "why = 'so'\n", "unknown field 'why'"),
        ("[other]\n", "write expected verdicts as [[expected]] tables"),
        ("x = " + "[" * 5000, "not TOML"),
    ],
    ids=["no-toml", "missing-field", "no-status", "unknown-field", "other-table", "deep"],
)
def test_bad_file_is_refused_in_one_line(inner: InnerRuns, text: str, said: str) -> None:
    inner.file("known.toml", text)

    line = inner.suite(expected="known.toml").usage_error

    assert line.startswith("--videodecode-expected: known.toml: ")
    assert said in line
