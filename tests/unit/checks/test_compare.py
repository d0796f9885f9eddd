from __future__ import annotations

from typing import Any

import pytest
from planted import UNREADABLE, error, toy_clip, toy_pictures

from pytest_videodecode.checks.asking import Ask
from pytest_videodecode.checks.compare import change, incomplete, wrong
from pytest_videodecode.model import ClipSpec, Hang, Outcome, OutcomeKind

CLIP = toy_clip(20)
DAMAGED = toy_clip(20, intact=False)
ASK = Ask("window", (3, 4, 5))


def came(*numbers: int, kind: OutcomeKind | None = None, **fields: Any) -> Outcome:
    if kind is None:
        kind = OutcomeKind.FRAMES if len(numbers) == len(ASK.frames) else OutcomeKind.SILENT_LOSS
    frames = toy_pictures(256)[list(numbers)] if numbers else None
    return Outcome(kind=kind, frames=frames, count=len(numbers), **fields)


def raised(*numbers: int) -> Outcome:
    kind = OutcomeKind.PARTIAL if numbers else OutcomeKind.ERROR
    return came(*numbers, kind=kind, error=error(ValueError, "invalid\n data"))


HANG = Outcome(kind=OutcomeKind.HANG, hang=Hang(limit_s=2.0, gil_held=False))
PLACE = "of 3, pattern 'window', by index)"


@pytest.mark.parametrize(
    ("outcome", "sentence"),
    [
        (came(3, 4, 5), ""),
        (came(3, 5, 5), f"asked frame 4, got frame 5 (picture 2 {PLACE}"),
        (came(2, 3, 4), f"asked frame 3, got frame 2 (picture 1 {PLACE}; 3 of 3 pictures are wrong"),
        (came(3, 4, UNREADABLE), f"asked frame 5, got a picture that shows no frame of the clip (picture 3 {PLACE}"),
        (came(3, 4), f"asked frame 5, got no picture and no error (picture 3 {PLACE}; 2 pictures came for 3 asked"),
        (came(3, 5), f"asked frame 4, got frame 5 (picture 2 {PLACE}; 2 pictures came for 3 asked"),
        (came(), f"asked frame 3, got no picture and no error (picture 1 {PLACE}; 0 pictures came for 3 asked"),
        (came(3, 4, 5, 6), "asked 3 frames from 3 to 5, got 4 pictures (pattern 'window', by index)"),
        (raised(), f"asked frame 3, got ValueError: invalid data (picture 1 {PLACE}; 0 pictures came for 3 asked"),
        (raised(3, 4), f"asked frame 5, got ValueError: invalid data (picture 3 {PLACE}; 2 pictures came for 3 asked"),
        (
            raised(3, 4, 5),
            "asked 3 frames from 3 to 5, got them and then ValueError: invalid data (pattern 'window', by index)",
        ),
        (HANG, "asked 3 frames from 3 to 5, got hang after 2 s, GIL released (pattern 'window', by index)"),
    ],
)
def test_answer_from_an_intact_clip_is_judged_in_one_sentence(outcome: Outcome, sentence: str) -> None:
    assert wrong(CLIP, ASK, outcome) == sentence


@pytest.mark.parametrize("outcome", [raised(), raised(3, 4), raised(3, 4, 5), came(3, 4, 5)])
def test_damaged_clip_may_end_in_an_error(outcome: Outcome) -> None:
    assert wrong(DAMAGED, ASK, outcome) == ""


@pytest.mark.parametrize("outcome", [came(3, 4), came(), came(3, 4, 6), raised(3, 5), came(3, 4, 5, 5), HANG])
def test_damaged_clip_may_not_give_wrong_frames_nor_lose_any_silently(outcome: Outcome) -> None:
    assert wrong(DAMAGED, ASK, outcome)


def test_only_an_error_answers_a_clip_without_frames() -> None:
    empty, ask = toy_clip(0, intact=False), Ask("no frame", (0,))
    assert wrong(empty, ask, raised()) == ""
    assert "a clip that shows no frame, got 1 frames" in wrong(empty, ask, came(0, kind=OutcomeKind.FRAMES))
    assert "got 0 frames and no error where an error is due" in wrong(empty, ask, came())
    assert "got hang" in wrong(empty, ask, HANG)


def test_complete_answer_may_show_other_frames() -> None:
    assert incomplete(CLIP, ASK, came(7, 8, 9)) == ""
    assert incomplete(CLIP, ASK, came(3, 4)) == wrong(CLIP, ASK, came(3, 4))


def test_equal_answers_have_no_change() -> None:
    assert change(CLIP, ASK, came(3, 4, 5), came(3, 4, 5)) is None
    assert change(DAMAGED, ASK, raised(), raised()) is None


def test_change_of_pixels_names_frame_size_and_place() -> None:
    again = came(3, 4, 5)
    again.frames[1, 1, 2, 0] += 3
    found = change(CLIP, ASK, came(3, 4, 5), again)
    assert found
    assert found.judged
    assert found.levels == 3
    assert found.sentence == (
        f"asked frame 4, got frame 4 with other pixels: 1 of 24 values differ, by at most 3 (picture 2 {PLACE}"
    )


def test_change_of_pixels_does_not_wrap_around() -> None:
    first, again = came(3, 4, 5), came(3, 4, 5)
    first.frames[0, 0, 0, 1], again.frames[0, 0, 0, 1] = 250, 5
    found = change(CLIP, ASK, first, again)
    assert found
    assert found.levels == 245


@pytest.mark.parametrize("clip", [CLIP, DAMAGED])
@pytest.mark.parametrize(
    ("first", "again", "words"),
    [
        (came(3, 4, 5), raised(), "got ValueError: invalid data where 3 frames came"),
        (raised(3, 4), came(3, 4), "got 2 frames and no error where 2 frames, then ValueError"),
        (came(3, 4, 5), HANG, "got hang after 2 s"),
        (raised(), came(kind=OutcomeKind.ERROR, error=error(IndexError)), "got IndexError: no such frame where"),
    ],
)
def test_change_of_class_or_exception_is_judged_in_any_clip(
    clip: Any, first: Outcome, again: Outcome, words: str
) -> None:
    found = change(clip, ASK, first, again)
    assert found
    assert found.judged
    assert words in found.sentence


@pytest.mark.parametrize(
    ("fields", "judged"),
    [
        ({"intact": True}, True),
        ({"intact": False}, False),
        ({"intact": False, "codec": "av1"}, False),
        ({"intact": False, "codec": "av1", "spec": ClipSpec()}, True),
        ({"intact": False, "codec": "h264", "spec": ClipSpec(codec="h264")}, False),
    ],
)
def test_pixels_are_judged_in_intact_clips_and_in_generated_av1(fields: dict[str, Any], judged: bool) -> None:
    again = came(3, 4, 5)
    again.frames[2, 1] ^= 1
    found = change(toy_clip(20, **fields), ASK, came(3, 4, 5), again)
    assert found
    assert found.judged is judged


def test_number_of_frames_before_an_error_is_not_judged_in_a_damaged_clip() -> None:
    found = change(DAMAGED, ASK, raised(3, 4), raised(3))
    assert found
    assert not found.judged
    assert found.sentence.endswith("got 1 pictures where 2 came")


def test_pictures_of_another_size_are_a_change() -> None:
    again = Outcome(kind=OutcomeKind.FRAMES, frames=toy_pictures(3)[:, :1], count=3)
    found = change(CLIP, ASK, came(3, 4, 5), again)
    assert found
    assert found.judged
    assert "got pictures of 4x1 where 4x2 came" in found.sentence
