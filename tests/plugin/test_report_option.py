"""--videodecode-report and videodecode_report: results.json."""

from __future__ import annotations

import json

import pytest
from inner_runs import REPORT, InnerRuns


def test_report_says_what_was_run_where_and_every_verdict(inner: InnerRuns) -> None:
    ran = inner.suite(
        "--videodecode-decoder=rogue:too_few", decoder="pyav", checks="frame_identity", codecs="mpeg4,h264"
    )

    assert ran.report["schema"] == "videodecode-results/1"
    assert ran.report["seed"] == 0
    environment = ran.report["environment"]
    assert environment.keys() == {
        "pytest-videodecode",
        "python",
        "platform",
        "machine",
        "cores",
        "packages",
        "ffmpeg",
    }
    assert {"av", "numpy", "pytest"} <= environment["packages"].keys()
    assert {"libavcodec", "libavformat"} <= environment["ffmpeg"].keys()
    fields = {"check", "decoder", "clip", "status", "reason", "evidence", "replay", "expected"}
    assert [verdict.keys() for verdict in ran.verdicts] == [fields] * 4
    assert [(v["decoder"], v["clip"], v["status"]) for v in ran.verdicts] == [
        ("pyav", "mpeg4", "passed"),
        ("pyav", "h264", "passed"),
        ("rogue:too_few", "mpeg4", "failed"),
        ("rogue:too_few", "h264", "failed"),
    ]
    assert ran.verdicts[0]["evidence"]["requests"] > 1
    assert ran.verdicts[2]["reason"].startswith("asked frame 0, got ")
    assert ran.summary[-1] == "report: out/results.json"


def test_report_is_whole_and_leaves_nothing_else_in_its_folder(inner: InnerRuns) -> None:
    inner.file(f"{REPORT}/results.json", "old")

    inner.suite(decoder="rogue:nothing")

    folder = inner.pytester.path / REPORT
    assert sorted(path.name for path in folder.iterdir()) == ["results.json", "summary.md"]
    assert json.loads((folder / "results.json").read_text())["verdicts"]
    assert (folder / "results.json").stat().st_mode & 0o777 == inner.file("any").stat().st_mode & 0o777


def test_folders_are_made(inner: InnerRuns) -> None:
    inner.suite(decoder="rogue:nothing", report="a/b/c")

    assert (inner.pytester.path / "a" / "b" / "c" / "results.json").is_file()


def test_folder_that_cannot_be_made_is_said_and_the_verdicts_are_shown(inner: InnerRuns) -> None:
    inner.file("file")

    ran = inner.suite(report="file/out")

    assert ran.code == pytest.ExitCode.USAGE_ERROR
    ran.result.assert_outcomes(passed=1)
    assert ran.matrix[:2] == [["determinism"], ["rogue:well_behaved", "1/1"]]
    assert ran.summary[-1] == (
        "ERROR cannot write the report file/out/results.json: Not a directory; give a folder to write in"
    )
    assert "Traceback" not in ran.out


def test_run_without_a_verdict_replaces_an_old_report(inner: InnerRuns) -> None:
    inner.suite()

    ran = inner.suite("-k", "nothing_at_all")

    assert ran.report["verdicts"] == []
    assert ran.summary == ["0 verdicts: none (seed 0)", "report: out/results.json"]


def test_ini_key_is_relative_to_its_file_and_empty_flag_counts_against_it(
    inner: InnerRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner.pytester.makeini(f"[pytest]\nvideodecode_report = {REPORT}\n")
    elsewhere = inner.pytester.path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    here = ("--rootdir=..", "-c", "../tox.ini")

    assert inner.suite(*here, report="").report == {}
    assert inner.suite(*here, report=None).verdict["status"] == "passed"


def test_report_asked_for_in_the_ini_file_is_left_alone_by_runs_of_other_tests(inner: InnerRuns) -> None:
    inner.pytester.makeini(f"[pytest]\nvideodecode_report = {REPORT}\n")
    inner.pytester.makepyfile(test_own="def test_own(): pass")

    ran = inner.tests()

    ran.result.assert_outcomes(passed=1)
    assert ran.report == {}
