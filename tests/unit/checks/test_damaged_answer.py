from __future__ import annotations

from dataclasses import replace

import pytest
from planted import UNREADABLE, error, toy_clip, toy_pictures

from pytest_videodecode.checks.asking import INDEX, TIMESTAMP, Ask
from pytest_videodecode.checks.base import ALLOWED_ERRORS
from pytest_videodecode.checks.damage_truth import Certain
from pytest_videodecode.checks.damaged_answer import Pictures, amiss, is_allowed
from pytest_videodecode.model import ErrorInfo, Hang, Outcome, OutcomeKind

CLIP = toy_clip(12)
ASK = Ask("window", (4, 5, 6, 7))
TRUTH = Certain(
    kept={INDEX: frozenset(range(6)), TIMESTAMP: frozenset(range(6))},
    gone={INDEX: frozenset({7}), TIMESTAMP: frozenset({7})},
)
INVALID = ErrorInfo(type="InvalidDataError", message="m", bases=("av.error.InvalidDataError", "av.error.FFmpegError"))


def showing(*numbers: int, error: ErrorInfo | None = None) -> Outcome:
    pictures = toy_pictures(12)
    frames = pictures[[number % 12 for number in numbers]]
    for position, number in enumerate(numbers):
        if number == UNREADABLE:
            frames[position] = UNREADABLE
    kind = OutcomeKind.PARTIAL if error else OutcomeKind.FRAMES
    kind = kind if len(numbers) == 4 or error else OutcomeKind.SILENT_LOSS
    return Outcome(kind=kind, frames=frames, count=len(numbers), error=error)


def judge(outcome: Outcome, allowed: tuple[str, ...] | None = ALLOWED_ERRORS) -> tuple[str, Pictures]:
    came = Pictures()
    return amiss(CLIP, ASK, outcome, TRUTH, came=came, allowed=allowed), came


def test_right_frames_and_then_an_allowed_error_are_right() -> None:
    assert judge(showing(4, 5, 6, error=INVALID)) == ("", Pictures(right=3))


def test_error_alone_is_right() -> None:
    assert judge(Outcome(kind=OutcomeKind.ERROR, error=INVALID)) == ("", Pictures())


def test_picture_that_damage_may_have_reached_is_counted() -> None:
    assert judge(showing(4, 5, 3, error=INVALID)) == ("", Pictures(right=2, concealed=1))
    assert judge(showing(4, 5, UNREADABLE, error=INVALID)) == ("", Pictures(right=2, unreadable=1))


def test_other_frame_where_no_damage_reaches_is_wrong() -> None:
    sentence, _ = judge(showing(4, 6, 6, error=INVALID))
    assert (
        sentence
        == "asked frame 5, got frame 6 (picture 2 of 4, pattern 'window', by index); the damage does not reach it"
    )


def test_any_picture_of_a_frame_that_is_gone_is_wrong() -> None:
    for number, words in ((6, "frame 6"), (UNREADABLE, "a picture that shows no frame of the clip")):
        sentence, _ = judge(showing(4, 5, 6, number))
        assert sentence.startswith(f"asked frame 7, got {words} (picture 4 of 4")
        assert sentence.endswith("nothing of it is left in the file")


def test_fewer_frames_without_an_error_are_wrong() -> None:
    sentence, _ = judge(showing(4, 5, 6))
    assert sentence.startswith("asked frame 7, got no picture and no error (picture 4 of 4")


def test_more_frames_than_asked_are_wrong() -> None:
    assert judge(showing(4, 5, 6, 6, 6))[0].startswith("asked 4 frames from 4 to 7, got 5 pictures")


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Outcome(kind=OutcomeKind.HANG, hang=Hang(limit_s=3.0, gil_held=True)), "got hang after 3 s, GIL held"),
        (Outcome(kind=OutcomeKind.CRASH, signal="SIGSEGV"), "got crash (SIGSEGV)"),
        (Outcome(kind=OutcomeKind.OUT_OF_MEMORY), "got out of memory"),
    ],
)
def test_no_answer_is_wrong(outcome: Outcome, words: str) -> None:
    assert words in judge(outcome)[0]


def test_refusal_for_want_of_memory_is_an_error_like_another() -> None:
    refusal = Outcome(kind=OutcomeKind.OUT_OF_MEMORY, error=error(MemoryError, "Cannot allocate memory"))
    assert "got MemoryError: Cannot allocate memory" in judge(refusal)[0]
    assert judge(refusal, ("MemoryError",))[0] == ""
    assert judge(refusal, None)[0] == ""


def test_error_that_is_not_allowed_is_wrong_and_named() -> None:
    sentence, _ = judge(showing(4, 5, error=error(KeyError, "'pts'")))
    assert sentence.startswith("asked frame 6, got KeyError: 'pts' (pattern 'window', by index); allowed are av.")
    assert judge(showing(4, 5, error=error(KeyError, "'pts'")), None)[0] == ""


def test_damaged_clip_is_judged_as_one_whatever_the_original_is() -> None:
    came = Pictures()
    assert amiss(replace(CLIP, intact=True), ASK, showing(4, error=INVALID), TRUTH, came=came, allowed=None) == ""


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("av.error.FFmpegError", True),
        ("av.FFmpegError", True),
        ("av.error.InvalidDataError", True),
        ("FFmpegError", False),
        ("cv2.FFmpegError", False),
        ("ValueError", False),
        ("av.error.EOFError", False),
    ],
)
def test_class_is_named_in_full_or_by_the_package_that_exports_it(name: str, allowed: bool) -> None:
    assert is_allowed(INVALID, [name]) is allowed


def test_builtin_is_named_by_itself_and_stands_for_its_subclasses() -> None:
    assert is_allowed(error(UnicodeDecodeError), ["ValueError"])
    assert is_allowed(error(ValueError), ["KeyError", "builtins.ValueError"])
    other = ErrorInfo(type="ValueError", message="", bases=("mylab.ValueError", "builtins.Exception"))
    assert not is_allowed(other, ["ValueError"])
