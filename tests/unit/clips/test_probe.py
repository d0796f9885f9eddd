from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_videodecode.clips import probe, synthesis
from pytest_videodecode.errors import ClipError
from pytest_videodecode.model import ClipSpec

MADE = ClipSpec(codec="h264", width=160, height=96, frames=20, bframes=2)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("probe") / "clip.mp4"
    synthesis.write(MADE, path)
    return path


def test_truth_is_that_of_the_file(made: Path) -> None:
    truth = probe.probe(MADE, made)
    assert truth.times == tuple(number / MADE.rate for number in range(20))
    assert truth.keyframes == (0, 8, 16)
    assert (truth.codec, truth.width, truth.height) == ("h264", 160, 96)
    assert truth.container.startswith("mov,mp4")
    assert truth.intact


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ({"frames": 21}, r"20 of 21 frames can be decoded"),
        ({"frames": 19}, r"20 of 19 frames"),
        ({"gop": 10}, r"asked a keyframe every 10 frames, the encoder made 3 of them, at \[0, 8, 16\]"),
        ({"open_gop": True}, r"asked an open GOP, the encoder made closed ones"),
        ({"start": 10}, r"asked a start of 10 s, the file starts at 0 s"),
        ({"rate": 25}, r"frame 1 is -0.00666667 s off its time"),
        ({"variable_rate": True}, r"frame 2 is"),
    ],
)
def test_file_that_is_not_what_was_asked_is_refused(made: Path, claim: dict[str, Any], message: str) -> None:
    with pytest.raises(ClipError, match=message):
        probe.probe(replace(MADE, **claim), made)


def test_picture_without_its_mark_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "clip.mp4"
    with monkeypatch.context() as patch:
        patch.setattr("pytest_videodecode.clips.marks.draw", lambda picture, number: picture.fill(number))
        synthesis.write(MADE, path)
    with pytest.raises(ClipError, match="frame 0 shows None; ask a better quality"):
        probe.probe(MADE, path)
