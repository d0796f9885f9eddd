from __future__ import annotations

import re
from collections.abc import Callable

import psutil
import pytest

from pytest_videodecode.failures.store import FOLDER, read_failure
from pytest_videodecode.model import Clip

Run = Callable[..., tuple[int, list[str], list[str]]]


def test_search_that_finds_nothing_ends_well_with_a_table(run: Run, clip: Clip) -> None:
    status, out, _ = run("fuzz", "pyav", "--codecs", clip.name, "--examples", "30", "--seed", "5")
    assert status == 0
    assert out[0] == f"pyav on {clip.name}: 30 examples, seed 5"
    assert out[1].startswith(f"{clip.name}: ")
    assert "(first at example " in out[1]
    assert out[-1].split() == ["examples", "30"]
    assert not any("FAILED" in line for line in out)
    assert not FOLDER.exists()


def test_hang_is_killed_shrunk_kept_and_replayed(
    run: Run, clip: Clip, new_children: Callable[[], list[psutil.Process]]
) -> None:
    command = ("fuzz", "fragile:hangs", "--codecs", clip.name, "--examples", "5", "--seed", "8")
    status, out, _ = run(*command, "--shrink-seconds", "2")
    assert status == 1
    (failed,) = [number for number, line in enumerate(out) if line.startswith("FAILED")]
    words = r"FAILED .*, frames by .*: asked .*, got hang( in \w+)? after [0-9.]+ s, GIL released"
    assert re.search(words, out[failed])
    name = out[failed + 1].removeprefix("  again: videodecode replay ")
    failure = read_failure(FOLDER / name)
    assert failure.outcome.hang is not None
    assert failure.outcome.hang.limit_s >= 2.0  # confirmed under the full limit, not the short one
    assert [line.split()[:2] for line in out if line.startswith("hang")] == [["hang", "FAILED"]]
    assert run("replay", name)[0] == 1
    assert new_children() == []


def test_processes_share_the_work_and_what_they_find(
    run: Run, clip: Clip, new_children: Callable[[], list[psutil.Process]]
) -> None:
    command = ("fuzz", "fragile:loses", "--codecs", clip.name, "--examples", "41", "--seed", "6", "--folder", "run")
    status, out, _ = run(*command, "-n", "2")
    assert status == 1
    (examples,) = [int(line.split()[-1]) for line in out if line.startswith("examples")]
    assert examples >= 41
    kept = {line.split()[-1] for line in out if line.startswith("  again: ")}
    assert 1 <= len(kept) <= 2, "of each process at most one, and the same one is kept once"
    assert all(run("replay", name)[0] == 1 for name in kept)
    assert new_children() == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nobody",), "SPEC: decoder 'nobody' is unknown"),
        (("pyav", "--codecs", "nope"), "--codecs: unknown codec 'nope'"),
        (("pyav", "--codecs", ""), "--codecs: no clip is named"),
        (("pyav", "--examples", "0"), "--examples: '0' is no number from 1 to"),
        (("pyav", "--processes", "many"), "--processes: 'many' is no number from 1 to 1024"),
        (("pyav", "--seconds", "nan"), "--seconds: 'nan' is no time; give seconds above 0"),
        (("pyav", "--shrink-seconds", "0"), "--shrink-seconds: '0' is no time; give seconds above 0"),
        (("pyav", "--seconds", "1", "--examples", "1"), "--seconds and --examples: give one of them"),
        (("pyav", "--seed", "x"), "--seed: 'x' is no seed"),
        (("no_such_module:f", "--codecs", "mpeg4"), "no module named 'no_such_module'"),
    ],
)
def test_value_that_cannot_be_used_is_one_line(run: Run, arguments: tuple[str, ...], words: str) -> None:
    status, _, errors = run("fuzz", *arguments)
    assert (status, len(errors)) == (2, 1)
    assert words in errors[0]


def test_process_that_cannot_search_is_said(run: Run, clip: Clip) -> None:
    status, _, errors = run("fuzz", "no_such_module:f", "--codecs", clip.name, "-n", "2", "--examples", "4")
    assert status == 2
    assert errors[-1] == "videodecode: a process of the search ended with status 2; see its message above"
