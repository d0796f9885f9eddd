from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_videodecode.datasets.truth import read_truth

Run = Callable[..., tuple[int, list[str], list[str]]]
SMALL = ("--codec", "mpeg4", "--size", "64x64", "--plain")


def test_data_set_is_made_as_asked(run: Run) -> None:
    asked = (
        "--cameras",
        "left,right",
        "--episodes",
        "3",
        "--frames",
        "4,5,6",
        "--fps",
        "10",
        "--gop",
        "3",
        "--seed",
        "5",
    )
    status, out, err = run("dataset", "make", "made", *SMALL, *asked, "--episodes-per-file", "2", "--data-files", "3")
    assert (status, out, err) == (0, ["made: 3 episodes, 15 frames, 2 cameras, 4 mp4"], [])
    spec = read_truth(Path("made")).spec
    assert (spec.cameras, spec.lengths, spec.fps, spec.gop, spec.seed) == (("left", "right"), (4, 5, 6), 10, 3, 5)
    assert (spec.codec, spec.width, spec.height, spec.textured) == ("mpeg4", 64, 64, False)
    assert (len(spec.data_groups), len(spec.video_groups)) == (3, 2)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--size", "64"), "--size: '64' is no size; give width x height, such as 256x256"),
        (("--size", "64xa"), "--size: '64xa' is not made of whole numbers; give such as 256x256"),
        (("--size", "32x32"), "data set: a size of 32x32 is not possible; give even sides of 64 to 4096 pixels"),
        (("--frames", "3,x"), "--frames: '3,x' is not made of whole numbers; give such as 20"),
        (("--frames", "3,4"), "data set: 2 lengths for 4 episodes; give one for each, or one number"),
        (("--cameras", "a,a"), "data set: 2 cameras are not possible; give 1 to 16 different names"),
        (("--codec", "gif"), "data set: unknown codec 'gif'; known are av1, h264, mpeg4, hevc, vp9"),
    ],
)
def test_what_cannot_be_made_is_one_line(run: Run, asked: tuple[str, ...], said: str) -> None:
    assert run("dataset", "make", "made", *asked) == (2, [], [f"videodecode: {said}"])
    assert list(Path().iterdir()) == []


def test_folder_with_something_in_it_is_left_alone(run: Run) -> None:
    Path("made").mkdir()
    Path("made/mine.txt").write_text("mine")
    status, out, (line,) = run("dataset", "make", "made", *SMALL)
    assert (status, out) == (2, [])
    assert line.endswith("made: is there already, and not an empty folder; give another one, or remove it")
    assert [path.name for path in Path("made").iterdir()] == ["mine.txt"]
