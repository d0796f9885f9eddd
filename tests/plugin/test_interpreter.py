"""Decoders in another interpreter: one that is not there, is no Python, or lacks what is needed."""

from __future__ import annotations

import os
import sys
import venv
from pathlib import Path

import pytest
from inner_runs import InnerRuns


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """An interpreter with nothing installed."""
    venv.create(tmp_path / "bare", symlinks=True, with_pip=False)
    return tmp_path / "bare" / "bin" / "python"


def script(inner: InnerRuns, text: str) -> Path:
    """A program that is called as an interpreter, and counts how often."""
    path = inner.file("python", f"#!/bin/sh\necho started >> {inner.pytester.path}/starts\n{text}\n")
    path.chmod(0o755)
    return path


def test_one_that_is_not_there_is_an_error_in_one_line(inner: InnerRuns) -> None:
    ran = inner.suite("--videodecode-decoder=rogue:well_behaved", decoder="pyav@/no/python")

    ran.result.assert_outcomes(passed=1, failed=1)
    assert ran.verdicts[0]["status"] == "error"
    assert ran.verdicts[0]["reason"] == (
        "cannot start /no/python: No such file or directory; name the interpreter as DECODER@/path/to/python"
    )
    assert "Traceback" not in ran.out


def test_file_that_cannot_be_executed_is_an_error_in_one_line(inner: InnerRuns) -> None:
    file = inner.file("python", "no program")

    reason = inner.suite(decoder=f"pyav@{file}").verdict["reason"]

    assert reason.startswith(f"cannot start {file}: Permission denied; name the interpreter as ")


def test_bare_interpreter_lacks_numpy(inner: InnerRuns, bare: Path) -> None:
    ran = inner.suite(decoder=f"pyav@{bare}")

    assert ran.verdict["status"] == "error"
    assert "No module named 'numpy'; a worker needs numpy in its interpreter" in ran.verdict["reason"]
    assert "\n" not in ran.verdict["reason"]


def test_program_that_ends_is_started_once_for_all_tests(inner: InnerRuns) -> None:
    program = script(inner, "echo no license found >&2; exit 3")

    ran = inner.suite(decoder=f"pyav@{program}", checks="frame_identity,determinism", codecs="mpeg4,h264")

    assert [(verdict["status"], verdict["reason"]) for verdict in ran.verdicts] == [
        ("error", f"the worker of pyav@{program} ended before it was ready: no license found")
    ] * 4
    assert (inner.pytester.path / "starts").read_text() == "started\n"


def test_package_missing_there_is_unsupported_and_can_be_required(inner: InnerRuns) -> None:
    program = script(inner, f'exec {sys.executable} -c "{HIDES_AV}" "$@"')

    ran = inner.suite(decoder=f"pyav@{program}", checks="frame_identity,determinism")
    required = inner.suite(decoder=f"pyav@{program}", require="all")

    assert [verdict["status"] for verdict in ran.verdicts] == ["unsupported", "unsupported"]
    assert "-m pip install av" in ran.verdicts[0]["reason"]
    assert "\n" not in ran.verdicts[0]["reason"]
    assert required.verdict["status"] == "failed"
    assert (inner.pytester.path / "starts").read_text() == "started\n" * 2


#: Runs the worker as that interpreter would, were PyAV not installed.
HIDES_AV = (
    "import runpy, sys; sys.modules['av'] = None; sys.argv = sys.argv[1:]; "
    "runpy.run_path(sys.argv[0], run_name='__main__')"
)


def test_other_interpreter_decodes_with_its_own_packages(inner: InnerRuns, bare: Path) -> None:
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    (
        bare.parents[1] / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages" / "these.pth"
    ).write_text(packages)
    relative = os.path.relpath(bare, inner.pytester.path)

    ran = inner.suite(decoder=f"pyav@{relative}", checks="frame_identity")

    assert (ran.verdict["status"], ran.verdict["decoder"]) == ("passed", f"pyav@{relative}")
