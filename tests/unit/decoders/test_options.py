from __future__ import annotations

import pytest

from pytest_videodecode.decoders.options import choice, count, refuse_unknown, scalar
from pytest_videodecode.errors import DecoderSpecError


@pytest.mark.parametrize(("text", "value"), [("0", 0), ("2", 2), ("160", 160), ("100000", 100_000)])
def test_counts_are_ascii_digits(text: str, value: int) -> None:
    assert count("threads", text) == value


@pytest.mark.parametrize("text", ["", "-1", "+2", "2.0", "two", "٢", "²", "100001", "9" * 5000, "1_0"])
def test_anything_else_is_no_count(text: str) -> None:
    with pytest.raises(DecoderSpecError, match=r"option threads=.*give digits, 0 to 100000"):
        count("threads", text)


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("0.5", 0.5), ("true", True), ("null", None), ('"3"', "3"), ("pyav", "pyav"), ("[1]", "[1]"), ("", "")],
)
def test_values_are_json_scalars_or_text(text: str, value: object) -> None:
    assert scalar(text) == value
    assert type(scalar(text)) is type(value)


def test_choice_is_free_of_letter_case() -> None:
    assert choice("thread_type", "frame", ("SLICE", "FRAME")) == "FRAME"
    with pytest.raises(DecoderSpecError, match="option thread_type=fibre: unknown value; known are SLICE, FRAME"):
        choice("thread_type", "fibre", ("SLICE", "FRAME"))


def test_unknown_option_is_refused_with_those_there_are() -> None:
    refuse_unknown("pyav", {"threads": "2", "thread_cap": "2", "log_level": "ERROR"}, ("log_level",))
    with pytest.raises(DecoderSpecError, match="pyav has no option 'thraeds'; it has threads, thread_cap, log_level"):
        refuse_unknown("pyav", {"thraeds": "2"}, ("log_level",))
