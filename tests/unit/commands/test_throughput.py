from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_videodecode import cli

CODEC = "mpeg4:width=160:height=96"
SMALL = ("throughput", "pyav", "--codecs", CODEC, "--seconds", "0.2", "--processes", "1")


def test_baseline_is_made_then_held_to_and_all_is_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    assert cli.main([*SMALL, "--baseline", "base.json", "--update-baseline"]) == 0
    base = json.loads((tmp_path / "base.json").read_text(encoding="utf-8"))
    base["entries"][0]["metrics"]["decoded_per_sample"] = 1
    (tmp_path / "base.json").write_text(json.dumps(base), encoding="utf-8")
    capsys.readouterr()

    status = cli.main([*SMALL, "--baseline", "base.json", "--report", "out", "--benchmark-json", "bench.json"])

    out = capsys.readouterr().out
    assert status == 1
    assert f"FAILED decoded_per_sample of pyav on {CODEC}: was 1, now " in out
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "summary.md",
        "throughput.csv",
        "throughput.json",
    ]
    assert json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))["benchmarks"]
    assert page.read_text(encoding="utf-8").count("### Throughput") == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--update-baseline"], "--update-baseline: name the file by --baseline"),
        (["--baseline", "none.json"], "there is no baseline none.json; make it with"),
        (["--against", "pyav@/no/python"], "cannot compare with pyav@/no/python: cannot start"),
        (["--limits", "speed=2"], "--limits: 'speed' is no metric of the gate"),
        (["--processes", "0"], "--processes: '0' is no number of processes"),
        (["--codecs", ""], "throughput: no codec is named"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert cli.main([*SMALL, *arguments]) == 2
    out, err = capsys.readouterr()
    (line,) = err.splitlines()
    assert line.startswith(f"videodecode: {said}")
    assert out == ""
