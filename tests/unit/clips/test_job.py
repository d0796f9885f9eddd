from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from pytest_videodecode.clips import job
from pytest_videodecode.errors import ClipError
from pytest_videodecode.model import ClipSpec

SPEC = ClipSpec(width=160, height=96, frames=9)


def program(folder: Path, text: str) -> str:
    path = folder / "program"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_job_makes_the_file_and_prints_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    truth = job.run(job.Job(path=str(tmp_path / "clip.mp4"), spec=SPEC), 60)
    assert truth.keyframes == (0, 8)
    assert (tmp_path / "clip.mp4").stat().st_size > 1000
    assert capfd.readouterr() == ("", "")


def test_job_that_overruns_is_killed_with_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, new_children: Callable[[], list[psutil.Process]]
) -> None:
    monkeypatch.setattr(sys, "executable", program(tmp_path, "sleep 98765 & sleep 98765"))
    with pytest.raises(ClipError, match=r"clip av1:.*: FFmpeg has not finished within 0.3 s; use a smaller one"):
        job.run(job.Job(path=str(tmp_path / "clip.mp4"), spec=SPEC), 0.3)
    assert new_children() == []
    assert not any(process.info["cmdline"] == ["sleep", "98765"] for process in psutil.process_iter(["cmdline"]))


def test_crash_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", program(tmp_path, "echo first >&2; echo last >&2; kill -SEGV $$"))
    with pytest.raises(ClipError, match=r"^/x/y.mp4: its process ended with status -11 \(last\)$"):
        job.run(job.Job(path="/x/y.mp4"), 60)


def test_what_is_not_a_reply_is_no_truth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", program(tmp_path, "echo '{\"truth\": 5}'"))
    with pytest.raises(ClipError, match=r"its process ended with status 0 \(no message\)"):
        job.run(job.Job(path="/x/y.mp4"), 60)


def test_folder_that_the_caller_stands_in_lends_no_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "av.py").write_text("raise SystemExit('the wrong av')")
    monkeypatch.chdir(tmp_path)
    assert job.run(job.Job(path=str(tmp_path / "clip.mp4"), spec=SPEC), 60).codec == "av1"
