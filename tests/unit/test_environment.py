from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pytest_videodecode.environment import commit_info


def test_commit_is_what_git_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Somebody")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "somebody@example.org")
        monkeypatch.setenv(f"GIT_{name}_DATE", "2026-12-01T12:00:00+00:00")
    file = tmp_path / "file"
    file.write_text("one", encoding="utf-8")
    for command in (["init", "-q", "-b", "trunk"], ["add", "."], ["commit", "-q", "-m", "one"]):
        subprocess.run(["git", *command], check=True)

    info = commit_info()
    assert len(info.pop("id")) == 40
    assert info == {
        "time": "2026-12-01T12:00:00+00:00",
        "author_time": "2026-12-01T12:00:00+00:00",
        "dirty": False,
        "project": tmp_path.name,
        "branch": "trunk",
    }
    file.write_text("two", encoding="utf-8")
    assert commit_info()["dirty"] is True


def test_folder_without_a_repository_is_unversioned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert (commit_info()["id"], commit_info()["project"]) == ("unversioned", tmp_path.name)
