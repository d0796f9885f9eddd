from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from pytest_videodecode.clips.store import Store
from pytest_videodecode.clips.truth import Truth
from pytest_videodecode.errors import ClipError

TRUTH = Truth(codec="av1", container="mp4", width=4, height=2, times=(Fraction(1, 3),), keyframes=(0,))

RACER = """
import pathlib, sys, time
from pytest_videodecode.clips.store import Store
from pytest_videodecode.clips.truth import Truth
root = pathlib.Path(sys.argv[1])
def make(path):
    with (root / "made").open("a") as log:
        log.write("x")
    with path.open("wb") as file:
        for _ in range(50):
            file.write(b"half")
            time.sleep(0.002)
    return Truth(codec="av1", container="mp4", width=4, height=2, times=(), keyframes=())
store = Store(root)
store.file("clip", make)
sys.stdout.write(str((root / "clip").stat().st_size))
"""


class Maker:
    """Writes ``content`` and counts how often it is asked to."""

    def __init__(self, content: bytes = b"content") -> None:
        self.content = content
        self.calls = 0

    def __call__(self, path: Path) -> Truth:
        self.calls += 1
        path.write_bytes(self.content)
        return TRUTH


def test_file_is_made_once_and_then_found_by_any_store(tmp_path: Path) -> None:
    maker = Maker()
    assert Store(tmp_path).file("clip", maker) == TRUTH
    assert Store(tmp_path).file("clip", maker) == TRUTH
    assert maker.calls == 1
    assert (tmp_path / "clip").read_bytes() == b"content"


@pytest.mark.parametrize("content", [b"", b"cont", b"Content", b"content and more"])
def test_altered_file_is_made_anew(tmp_path: Path, content: bytes) -> None:
    maker = Maker()
    Store(tmp_path).file("clip", maker)
    (tmp_path / "clip").write_bytes(content)
    Store(tmp_path).file("clip", maker)
    assert maker.calls == 2
    assert (tmp_path / "clip").read_bytes() == b"content"


@pytest.mark.parametrize("sidecar", ["", "{", "[]", "{}", '{"size": 7}', "\x00" * 40, "absent"])
def test_torn_sidecar_is_made_anew(tmp_path: Path, sidecar: str) -> None:
    maker = Maker()
    Store(tmp_path).file("clip", maker)
    path = tmp_path / "clip.json"
    whole = json.loads(path.read_text())
    path.unlink() if sidecar == "absent" else path.write_text(sidecar)
    assert Store(tmp_path).file("clip", maker) == TRUTH
    assert maker.calls == 2
    assert json.loads(path.read_text()) == whole


def test_missing_file_is_made_anew(tmp_path: Path) -> None:
    maker = Maker()
    Store(tmp_path).file("clip", maker)
    (tmp_path / "clip").unlink()
    Store(tmp_path).file("clip", maker)
    assert maker.calls == 2


def test_truth_without_a_file_is_found_out_once(tmp_path: Path) -> None:
    calls = []

    def make() -> Truth:
        calls.append(1)
        return TRUTH

    assert [Store(tmp_path).truth("real", make) for _ in range(2)] == [TRUTH, TRUTH]
    assert len(calls) == 1


def test_maker_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    def fail(path: Path) -> Truth:
        path.write_bytes(b"half")
        raise ClipError("cannot")

    with pytest.raises(ClipError, match=r"^cannot$"):
        Store(tmp_path).file("clip", fail)
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".lock"] == []


def test_many_processes_make_one_file_and_all_find_it_whole(tmp_path: Path) -> None:
    racers = [subprocess.Popen([sys.executable, "-c", RACER, str(tmp_path)], stdout=subprocess.PIPE) for _ in range(4)]
    assert [racer.communicate()[0] for racer in racers] == [b"200"] * 4
    assert (tmp_path / "made").read_text() == "x"


def test_root_that_cannot_be_written_is_one_line_that_names_the_variable(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("")
    with pytest.raises(ClipError, match="set VIDEODECODE_CACHE to a writable folder") as caught:
        Store(blocker / "cache").file("clip", Maker())
    assert "\n" not in str(caught.value)
