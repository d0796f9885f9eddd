from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pytest_videodecode.errors import OptionError
from pytest_videodecode.model import Status, Verdict
from pytest_videodecode.reports.results import SCHEMA, results, write_results

VERDICT = Verdict(check="seek_parity", decoder="pyav", clip="h264", status=Status.FAILED, reason="frame 3", replay="…")


def test_report_is_made_of_builtin_types() -> None:
    report = results([VERDICT], {"cores": 2, "packages": {"av": "18.1.0"}}, 7)
    assert report == {
        "schema": SCHEMA,
        "seed": 7,
        "environment": {"cores": 2, "packages": {"av": "18.1.0"}},
        "verdicts": [
            {
                "check": "seek_parity",
                "decoder": "pyav",
                "clip": "h264",
                "status": "failed",
                "reason": "frame 3",
                "evidence": {},
                "replay": "…",
                "expected": "",
            }
        ],
    }
    assert type(report["verdicts"][0]["status"]) is str


def test_file_holds_the_report_and_stands_alone_in_a_new_folder(tmp_path: Path) -> None:
    report = results([VERDICT], {}, 0)
    path = write_results(tmp_path / "a" / "b", report)
    assert path == tmp_path / "a" / "b" / "results.json"
    assert json.loads(path.read_text(encoding="utf-8")) == report
    assert list(path.parent.iterdir()) == [path]


def test_file_may_be_read_by_whom_the_umask_allows(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        path = write_results(tmp_path, results([], {}, 0))
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o640


def test_name_that_is_no_text_can_be_written_and_read(tmp_path: Path) -> None:
    verdict = Verdict(check="c", decoder="d", clip=os.fsdecode(b"\xff.mp4"), status=Status.PASSED)
    path = write_results(tmp_path, results([verdict], {}, 0))
    assert json.loads(path.read_text(encoding="utf-8"))["verdicts"][0]["clip"] == "\udcff.mp4"


def test_report_that_was_there_stays_whole_where_the_new_one_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_results(tmp_path, results([VERDICT], {}, 1))

    def full(source: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OptionError, match=r"results\.json: No space left on device; give a folder to write in"):
        write_results(tmp_path, results([], {}, 2))
    assert json.loads(path.read_text(encoding="utf-8"))["seed"] == 1
    assert list(tmp_path.iterdir()) == [path]


def test_folder_that_cannot_be_made_is_an_option_error_of_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OptionError, match="Not a directory") as caught:
        write_results(tmp_path / "file" / "out", results([], {}, 0))
    assert "\n" not in str(caught.value)
