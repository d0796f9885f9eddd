"""The parts of the benchmark of readers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import av
import numpy as np
import pytest

from benchmarks.decode import plot, shared_ffmpeg
from benchmarks.decode.cells import PATTERNS, Cell, requests
from benchmarks.decode.length import repeated
from benchmarks.decode.peer import Missing
from benchmarks.decode.peers import make
from benchmarks.decode.seats import Together, median
from benchmarks.decode.tables import Result, summary, table
from benchmarks.decode.timing import Difference, Timing, differ, ratio
from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.model import Clip, ClipSpec

INDICES = (7, 9, 11, 30)


@pytest.fixture(scope="module", params=["av1", "h264", "hevc"])
def clip(request: pytest.FixtureRequest, clip_cache: ClipCache) -> Clip:
    return clip_cache.clip(ClipSpec(codec=request.param))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_requests_stay_inside_the_clip_and_repeat_for_a_seed(pattern: str) -> None:
    asked = requests(PATTERNS[pattern], ["left", "right"], 200)
    assert asked == requests(PATTERNS[pattern], ["left", "right"], 200)
    for request in asked:
        (_, indices), (_, others) = request
        assert indices == others
        assert len(indices) == PATTERNS[pattern].count
        assert min(indices) >= 0
        assert max(indices) < 300


def test_a_window_is_nine_frames_of_thirty_three() -> None:
    assert (PATTERNS["window"].count, PATTERNS["window"].span, PATTERNS["window"].cameras) == (9, 33, 2)


@pytest.mark.parametrize("name", ["production", "production-uncached", "seed", "seed-1", "lerobot-pyav", "floor"])
def test_every_peer_returns_the_frames_asked(clip: Clip, name: str) -> None:
    request = [(clip.path, INDICES)]
    peer = make(name, 1, [request])
    try:
        peer.prepare(request)
        frames = peer.decode(clip.path, INDICES)
    finally:
        peer.close()
    assert frames.dtype == np.uint8
    assert clip.read(frames, INDICES) == list(INDICES)


@pytest.mark.parametrize(("name", "package"), [("decord", "decord"), ("opencv", "cv2"), ("torchcodec", "torchcodec")])
def test_a_package_that_is_not_here_is_missing(
    monkeypatch: pytest.MonkeyPatch, clip: Clip, name: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, "torchcodec.decoders", raising=False)
    with pytest.raises(Missing, match=r"is not installed \(pip install"):
        make(name, 1, [[(clip.path, INDICES)]])


def test_answers_that_differ_are_said_by_how_much() -> None:
    ours = [np.zeros((3, 2, 2, 3), np.uint8)]
    theirs = [ours[0].copy()]
    assert differ(ours, theirs) is None
    theirs[0][1, 0, 0, 0] = 7
    assert differ(ours, theirs) == Difference(frames=1, largest=7, share=1 / 12)
    assert str(differ(ours, theirs)) == "1 frames differ, 8.33% of their values, by up to 7"
    assert differ(ours, [np.zeros((3, 2, 4, 3), np.uint8)]) == Difference(frames=3, largest=255, share=1.0)


def test_a_ratio_is_that_of_pairs() -> None:
    assert ratio([2.0, 20.0, 600.0], [1.0, 10.0, 100.0]) == 2.0


def result(pattern: str, **walls: float) -> Result:
    cell = Cell(codec="av1", gop=2, width=256, height=256, pattern=pattern, threads=1)
    timings = {name: Timing(wall_s=[wall] * 5, cpu_s=[wall] * 5) for name, wall in walls.items()}
    return Result(cell, 13_000.0, timings)


def test_the_summary_names_the_cell_that_is_furthest_off() -> None:
    slow = result("sarm", production=2.0, torchcodec=1.0, seed=20.0, floor=2.0)
    fast = result("window", production=1.0, torchcodec=1.0, seed=1.5, floor=1.0)
    said = list(summary([slow, fast]))
    assert "  speed over that of torchcodec (≥ 1): 1 of 2 cells; median 0.75, least 0.50 (av1 g=2" in said[2]
    assert "window at GOP 2 (≥ 2): 0 of 1 cells; median 1.50" in said[4]
    assert "sarm at GOP 2 (≥ 6): 1 of 1 cells; median 10.00" in said[5]
    assert "(≥ 0.87): 2 of 2 cells" in said[6]


def test_a_missing_peer_and_other_pixels_are_lines() -> None:
    measured = result("window", production=1.0, seed=2.0)
    measured = Result(measured.cell, 13_000.0, {**measured.timings, "decord": Timing(missing="it is not installed")})
    measured.timings["seed"].difference = Difference(frames=2, largest=9, share=0.5)
    said = list(table([measured]))
    assert "  missing decord: it is not installed" in said
    assert "  pixels of seed in window: 2 frames differ, 50.00% of their values, by up to 9" in said
    assert not any("all peers the same" in line for line in said)


def test_a_plot_without_matplotlib_is_an_import_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError):
        plot.draw([result("window", production=1.0)], tmp_path / "plot.png")


def test_other_pixels_in_one_round_are_not_lost_in_the_median() -> None:
    rounds = [Together(each, 1.0, 10.0, 5, digest) for each, digest in ((1.0, "a"), (9.0, "a"), (2.0, "b"))]
    assert median(rounds) == Together(2.0, 1.0, 10.0, 5, None)
    assert median(rounds[:2]).digest == "a"


def test_a_repeated_clip_shows_its_frames_over_and_over(clip_cache: ClipCache, tmp_path: Path) -> None:
    clip = clip_cache.clip(ClipSpec(codec="av1"))
    with av.open(str(repeated(clip.path, tmp_path / "long.mp4", 110))) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    numbers = [number % clip.frames for number in range(110)]
    assert clip.read(np.stack(frames), numbers) == numbers


def test_pyav_s_libraries_are_linked_once_under_the_linker_s_names(tmp_path: Path) -> None:
    search_path = shared_ffmpeg.library_path(tmp_path)
    if not search_path:
        pytest.skip("this PyAV brings no libraries of its own")
    links = Path(search_path.split(":")[0])
    assert {link.name.split(".so.")[0] for link in links.iterdir()} >= {"libavcodec", "libavformat", "libavutil"}
    assert all(link.resolve().is_file() for link in links.iterdir())
    assert shared_ffmpeg.library_path(tmp_path) == search_path
    assert list(tmp_path.iterdir()) == [links]


DIES = """
import os, signal
from benchmarks.decode.peer import Missing
from benchmarks.decode.processes import PeerProcess

if __name__ == "__main__":
    for killed in (False, True):
        with PeerProcess() as process:
            if killed:
                os.kill(process.pid, signal.SIGKILL)
            try:
                process.open("floor", 1, [[("there-is-no-such-file.mp4", [0])]])
            except Missing as reason:
                print(reason, process.alive)
"""


def test_a_peer_that_fails_or_dies_costs_its_row_only(tmp_path: Path) -> None:
    program = tmp_path / "dies.py"  # a process of its own, because multiprocessing leaves a helper running
    program.write_text(DIES)
    paths = os.pathsep.join([str(Path(__file__).parents[3]), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, str(program)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": paths},
    )
    failed, died = done.stdout.splitlines()
    assert failed.startswith("FileNotFoundError: ")
    assert failed.endswith(" True")
    assert died == "its process died (exit code -9) False"
