from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

from pytest_videodecode.clips.marks import draw
from pytest_videodecode.damage.damage import Damage, damaged_bytes
from pytest_videodecode.damage.operators import FlipBytes
from pytest_videodecode.damage.recipe import OutcomeClass, Recipe
from pytest_videodecode.failures.committed import committed_clip
from pytest_videodecode.failures.corpus import CLIPS, packaged
from pytest_videodecode.failures.judge import fault
from pytest_videodecode.model import Clip, DecodeRequest, ErrorInfo, Hang, Outcome, OutcomeKind

ALLOWED = ErrorInfo(type="InvalidDataError", message="", bases=("av.error.InvalidDataError", "av.error.FFmpegError"))
OTHER = ErrorInfo(type="KeyError", message="'pts'", bases=("builtins.KeyError", "builtins.LookupError"))
MEMORY = ErrorInfo(type="MemoryError", message="", bases=("builtins.MemoryError",))


def pictures(clip: Clip, *numbers: int) -> Outcome:
    frames = np.full((len(numbers), clip.height, clip.width, 3), 128, np.uint8)
    for picture, number in zip(frames, numbers, strict=True):
        draw(picture, number)
    return Outcome(kind=OutcomeKind.FRAMES, frames=frames, count=len(numbers))


@pytest.mark.parametrize("with_clip", [True, False], ids=["with the clip", "without it"])
@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Outcome(kind=OutcomeKind.ERROR, error=ALLOWED), ""),
        (Outcome(kind=OutcomeKind.ERROR, error=OTHER), "KeyError.*allowed are av.error.FFmpegError, ValueError"),
        (Outcome(kind=OutcomeKind.HANG, hang=Hang(limit_s=2, gil_held=True)), "hang after 2 s, GIL held"),
        (Outcome(kind=OutcomeKind.CRASH, signal="SIGSEGV"), "crash .SIGSEGV."),
        (Outcome(kind=OutcomeKind.OUT_OF_MEMORY), "out of memory"),
        (Outcome(kind=OutcomeKind.OUT_OF_MEMORY, error=MEMORY), "MemoryError.*allowed are"),
        (Outcome(kind=OutcomeKind.SILENT_LOSS), "no error|no picture"),
    ],
)
def test_ends_are_judged_by_their_kind(
    recipe: Recipe, clip: Clip, with_clip: bool, outcome: Outcome, words: str
) -> None:
    came = fault(recipe, clip if with_clip else None, Path(clip.path).read_bytes(), outcome)
    assert "\n" not in came
    if words:
        assert re.search(words, came)
    else:
        assert came == ""


def test_error_that_the_run_allows_is_none(recipe: Recipe, clip: Clip) -> None:
    outcome = Outcome(kind=OutcomeKind.ERROR, error=OTHER)
    assert fault(recipe, clip, Path(clip.path).read_bytes(), outcome, ("KeyError",)) == ""


def test_wrong_picture_is_a_fault_only_where_damage_cannot_reach() -> None:
    clip = committed_clip(packaged().parent / CLIPS / "av1.mp4")
    damage = Damage((FlipBytes(region="packet:20", flips=((1, 1),)),))
    asked = Recipe.of(clip, damage, DecodeRequest(path="", indices=(3, 4)), "fake")
    behind = dataclasses.replace(asked, request=DecodeRequest(path="", indices=(21, 22)))
    copy = damaged_bytes(clip, damage)
    assert fault(asked, clip, copy, pictures(clip, 3, 4)) == ""
    assert fault(asked, clip, copy, pictures(clip, 3, 5)).startswith("asked frame 4, got frame 5")
    assert fault(behind, clip, copy, pictures(clip, 20, 20)) == ""
    by_time = DecodeRequest(path="", timestamps=(float(clip.times[3]) + 1e-6, float(clip.times[4])))
    timed = dataclasses.replace(asked, request=by_time)
    assert fault(timed, clip, copy, pictures(clip, 3, 4)) == ""
    assert fault(timed, clip, copy, pictures(clip, 3, 5)).startswith("asked frame 4, got frame 5")


def test_what_a_request_leaves_early_is_not_missed(recipe: Recipe, clip: Clip) -> None:
    request = dataclasses.replace(recipe.request, indices=(0, 1, 2), stop_after=1)
    recipe = dataclasses.replace(recipe, request=request)
    assert fault(recipe, clip, damaged_bytes(clip, recipe.damage), pictures(clip, 0)) == ""


def test_times_that_are_no_certain_ones_leave_pictures_alone(recipe: Recipe, clip: Clip) -> None:
    recipe = dataclasses.replace(recipe, request=DecodeRequest(path="", timestamps=(0.0,)))
    assert clip.container == "avi"
    assert fault(recipe, clip, damaged_bytes(clip, recipe.damage), pictures(clip, 7)) == ""


def test_expected_class_must_come(recipe: Recipe, clip: Clip) -> None:
    recipe = dataclasses.replace(recipe, expected=OutcomeClass(kind=OutcomeKind.ERROR, error="InvalidDataError"))
    copy = damaged_bytes(clip, recipe.damage)
    assert fault(recipe, clip, copy, Outcome(kind=OutcomeKind.ERROR, error=ALLOWED)) == ""
    came = fault(recipe, clip, copy, pictures(clip, 0, 1))
    assert came == "2 frames, where the recipe expects error (InvalidDataError)"
