from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_videodecode.measure import tune as tuning
from pytest_videodecode.measure.tune import Cell, Tuning

Run = Callable[..., tuple[int, list[str], list[str]]]


def test_sweep_ends_with_what_to_set(run: Run) -> None:
    pytest.importorskip("matplotlib")
    command = ("tune", "production", "--threads", "1,2", "--processes", "1", "--seconds", "5", "--plot", "sweep.png")
    status, out, _ = run(*command)
    assert status == 0
    assert out[0].startswith("production on av1, sample: 2 x 9 of 33 frames")
    assert [line.split()[:2] for line in out[2:4]] == [["1", "1"], ["2", "1"]]
    assert out[4] == "pixels: identical for every count"
    assert out[-2].startswith("set ")
    assert ": environment variable OPENWAM_VIDEO_DECODE_THREADS = " in out[-2]
    assert out[-1] == "plot: sweep.png"
    assert Path("sweep.png").stat().st_size > 1000


def test_json_has_every_cell(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    cell = Cell(
        threads=2,
        processes=1,
        rounds=4,
        samples_per_s=20.0,
        cpu_per_sample_s=0.06,
        latency_s=0.05,
        ratio=1.0,
    )
    found = Tuning(decoder="pyav", codec="h264", sample="", cells=(cell,), threads=2, set_by="", identical=False)
    asked: list[Any] = []

    def tune(*given: Any, **more: Any) -> Tuning:
        asked.append((given, more))
        return found

    monkeypatch.setattr(tuning, "tune", tune)
    command = ("tune", "pyav", "--codecs", "h264", "--threads", "2,4", "--processes", "1,8", "--seconds", "90")
    status, out, _ = run(*command, "--json")
    shown = json.loads("\n".join(out))
    assert (status, shown["schema"]) == (1, "videodecode-tune/1")
    assert shown["cells"][0]["latency_s"] == 0.05
    ((given, more),) = asked
    assert given[:4] == ("pyav", "h264", (2, 4), [1, 8])
    assert more == {"seconds": 90}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nobody",), "SPEC: decoder 'nobody' is unknown"),
        (("production,threads=2",), "sets the thread count that is to be found"),
        (("slowed:plain", "--threads", "1,2"), "slowed:plain has no thread count to be set by threads="),
        (("production", "--threads", "x"), "--threads: 'x' is no thread count"),
        (("production", "--processes", "1,none"), "--processes: 'none' is no number of processes; give 1 to 4096"),
        (("production", "--seconds", "1"), "--seconds: 1 is no time for a sweep"),
        (("production", "--codecs", "av1,h264"), "--codecs: 2 clips; a thread count is tuned on one"),
        (("production", "--plot", "sweep.mp4"), "cannot plot into sweep.mp4; give a file that ends in one of"),
    ],
)
def test_value_that_cannot_be_used_is_one_line(run: Run, arguments: tuple[str, ...], words: str) -> None:
    status, out, errors = run("tune", *arguments)
    assert (status, out, len(errors)) == (2, [], 1)
    assert words in errors[0]
