"""Commands run in the folder of the test, where the modules of tests/support are found too."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import fragile
import pytest

from pytest_videodecode import cli
from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.model import Clip, ClipSpec

Run = Callable[..., tuple[int, list[str], list[str]]]


@pytest.fixture(autouse=True)
def _folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])  # which commands put the current folder on


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Exit status of a command, and the lines of its output and errors."""

    def command(*arguments: object) -> tuple[int, list[str], list[str]]:
        status = cli.main([str(each) for each in arguments])
        out, err = capsys.readouterr()
        return status, out.splitlines(), err.splitlines()

    return command


@pytest.fixture
def clip(clip_cache: ClipCache, monkeypatch: pytest.MonkeyPatch) -> Clip:
    """The small clip that the fragile decoders are planted for."""
    clip = clip_cache.clip(ClipSpec(codec="h264", width=160, height=96, frames=16))
    monkeypatch.setenv(fragile.CLEAN_ENV, clip.path)
    return clip
