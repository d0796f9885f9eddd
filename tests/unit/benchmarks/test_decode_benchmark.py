"""The benchmark of readers, whole: as it is called, on one small cell."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.decode import benchmark_decode

FOLDER = Path(__file__).parents[3] / "benchmarks" / "decode"
SMALL = [
    "--codecs",
    "h264",
    "--gops",
    "2",
    "--sizes",
    "192x128",
    "--threads",
    "1",
    "--rounds",
    "5",
    "--seconds",
    "0.1",
]


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(FOLDER / program), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of one run's files, and what the run printed."""
    out = tmp_path_factory.mktemp("out")
    done = run("benchmark_decode.py", *SMALL, "--peers", "production,seed,lerobot-pyav,floor", "--out", str(out))
    assert (done.returncode, done.stderr) == (0, "")
    return out, done.stdout


def test_every_peer_has_a_row_in_the_table(written: tuple[Path, str]) -> None:
    _, printed = written
    assert "h264 g=2 192x128 threads=1" in printed
    assert "pixels: all peers the same, bit by bit" in printed
    for name in ("production", "seed", "lerobot-pyav", "floor"):
        (row,) = [line for line in printed.splitlines() if line.startswith(name) and "|" in line]
        assert all(len(column.split()) == 5 for column in row.split("|")[1:])


def test_what_could_not_be_measured_is_said(written: tuple[Path, str]) -> None:
    assert "speed over that of torchcodec (≥ 1): not measured" in written[1]


def test_the_report_has_all_that_is_needed_to_compare(written: tuple[Path, str]) -> None:
    report = json.loads((written[0] / "decode.json").read_text())
    assert report["machine"]["cores"] >= 1
    assert report["environment"]["ffmpeg"]["libavcodec"]
    assert [cell["pattern"] for cell in report["cells"]] == ["window", "sarm", "single"]
    for cell in report["cells"]:
        assert (cell["codec"], cell["gop"], cell["width"], cell["height"]) == ("h264", 2, 192, 128)
        for peer in cell["peers"].values():
            assert len(peer["wall_s"]) == len(peer["cpu_s"]) >= 5
            assert peer["difference"] is None
            assert peer["wall_median_s"] > 0


def test_the_plot_is_a_picture(written: tuple[Path, str]) -> None:
    assert (written[0] / "decode.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--peers", "production,nonsense"], "'nonsense' is none of production,"),
        (["--codecs", "vp6"], "'vp6' is none of av1, h264, hevc"),
        (["--sizes", "256"], "is no whole number"),
        (["--rounds", "0"], "'0' is no whole number from 1 on"),
        (["--seconds", "nan"], "'nan' is no number of seconds above 0"),
        (["--length", "--lengths", "20,10"], "argument --lengths: give a shorter and a longer one"),
    ],
)
def test_a_bad_option_is_one_line(capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    with pytest.raises(SystemExit, match="2"):
        benchmark_decode.main(arguments)
    assert said in capsys.readouterr().err.splitlines()[-1]


def test_a_size_that_cannot_be_encoded_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert benchmark_decode.main([*SMALL, "--peers", "floor", "--sizes", "193x128"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("benchmark_decode: ")
    assert "needs even sides" in line


def test_processes_decode_together(tmp_path: Path) -> None:
    done = run(
        "concurrency.py",
        *["--processes", "1,3", "--peers", "production,seed-160", "--repetitions", "1", "--seconds", "0.3"],
        *["--out", str(tmp_path)],
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "pixels: the same everywhere" in done.stdout
    rounds = json.loads((tmp_path / "concurrency.json").read_text())["rounds"]
    assert [(each["processes"], each["peer"]) for each in rounds] == [
        (count, peer) for count in (1, 3) for peer in ("production", "seed-160")
    ]
    assert all(each["samples_per_s"] > 0 and each["cpu_s_per_sample"] > 0 for each in rounds)
    if sys.platform == "linux":
        by_round = {(each["processes"], each["peer"]): each["threads"] for each in rounds}
        assert by_round[3, "seed-160"] > 160 > by_round[3, "production"] >= 3


def test_length_of_a_clip_is_measured() -> None:
    done = run("benchmark_decode.py", "--length", "--peers", "production", "--rounds", "2", "--lengths", "5,20")
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("production ")]
    assert [row[1] for row in rows] == ["single", "window"]
    assert all(float(row[-1]) > 0 for row in rows)
