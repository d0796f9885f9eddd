from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_videodecode import jsonform
from pytest_videodecode.errors import FormError
from pytest_videodecode.jsonform import NOT_JSON, from_json, loads, to_json


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, kw_only=True)
class Part:
    number: int
    share: Fraction = Fraction(1)


@dataclass(frozen=True, kw_only=True)
class Whole:
    name: str
    colour: Colour = Colour.RED
    ratio: float = 0.0
    good: bool = True
    maybe: int | None = None
    part: Part | None = None
    parts: tuple[Part, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    anything: Any = None
    pixels: Any = field(default=None, metadata=NOT_JSON, compare=False)

    def __post_init__(self) -> None:
        if self.name == "forbidden":
            raise ValueError("that name is forbidden")


WHOLES = st.builds(
    Whole,
    name=st.text(max_size=8).filter(lambda name: name != "forbidden"),
    colour=st.sampled_from(Colour),
    ratio=st.floats(allow_nan=False),
    good=st.booleans(),
    maybe=st.none() | st.integers(),
    part=st.none() | st.builds(Part, number=st.integers(), share=st.fractions(max_denominator=10**12)),
    parts=st.lists(st.builds(Part, number=st.integers()), max_size=3).map(tuple),
    counts=st.dictionaries(st.text(max_size=4), st.integers(), max_size=3),
)


@given(WHOLES)
def test_value_survives_the_way_to_json_text_and_back(whole: Whole) -> None:
    assert loads(Whole, json.dumps(to_json(whole), allow_nan=False)) == whole


def test_nan_survives_too() -> None:
    text = json.dumps(to_json(Whole(name="a", ratio=math.nan)), allow_nan=False)
    assert math.isnan(loads(Whole, text).ratio)


def test_what_is_no_part_of_the_form_is_left_out_and_refused() -> None:
    form = to_json(Whole(name="a", pixels=object()))
    assert "pixels" not in form
    with pytest.raises(FormError, match="unknown field 'pixels'"):
        from_json(Whole, {"name": "a", "pixels": 1})


def test_only_builtin_types_come_out() -> None:
    form = to_json(
        Whole(
            name="a", part=Part(number=1, share=Fraction(1, 3)), anything={Colour.BLUE: [Path("/a"), (1, -math.inf)]}
        )
    )
    assert form["part"] == {"number": 1, "share": "1/3"}
    assert form["colour"] == "red"
    assert type(form["colour"]) is str
    assert form["anything"] == {"blue": ["/a", [1, "-inf"]]}


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, object(), Whole])
def test_other_types_are_refused(value: Any) -> None:
    with pytest.raises(FormError, match="use builtin types"):
        to_json({"deep": [value]})


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([], "Whole: expected dict, got list"),
        ({}, "Whole: field 'name' is missing"),
        ({"name": "a", "size": 1}, "Whole: unknown field 'size'; known are name, colour, "),
        ({"name": 1}, "Whole.name: expected str, got int"),
        ({"name": None}, "Whole.name: expected str, got NoneType"),
        ({"name": "a", "colour": "green"}, "Whole.colour: 'green' is none of red, blue"),
        ({"name": "a", "colour": []}, "Whole.colour: [] is none of red, blue"),
        ({"name": "a", "ratio": "fast"}, "Whole.ratio: expected float, got str"),
        ({"name": "a", "ratio": True}, "Whole.ratio: expected float, got bool"),
        ({"name": "a", "ratio": 10**400}, "Whole.ratio: expected float, got int"),
        ({"name": "a", "good": 1}, "Whole.good: expected bool, got int"),
        ({"name": "a", "maybe": True}, "Whole.maybe: expected int, got bool"),
        ({"name": "a", "maybe": 1.0}, "Whole.maybe: expected int, got float"),
        ({"name": "a", "part": {"number": "1"}}, "Whole.part.number: expected int, got str"),
        ({"name": "a", "parts": [{"number": 1}, {}]}, "Whole.parts[1]: field 'number' is missing"),
        ({"name": "a", "parts": {}}, "Whole.parts: expected list, got dict"),
        ({"name": "a", "counts": {"x": "1"}}, "Whole.counts.x: expected int, got str"),
        ({"name": "forbidden"}, "Whole: that name is forbidden"),
    ],
)
def test_wrong_form_is_said_with_its_place(data: Any, said: str) -> None:
    with pytest.raises(FormError) as caught:
        from_json(Whole, data)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    "share", ["1/0", "1/00", "one", "1e9", "1e999999999", "", "1/", " 1", "1/-3", "9" * 50, 1, 0.5]
)
def test_fraction_is_two_numbers_and_nothing_costly(share: Any) -> None:
    with pytest.raises(FormError, match=r"Part\.share: expected "):
        from_json(Part, {"number": 1, "share": share})


@pytest.mark.parametrize(
    ("share", "value"), [("30000/1001", Fraction(30000, 1001)), ("-3", Fraction(-3)), ("29.97", Fraction(2997, 100))]
)
def test_fraction_is_read(share: str, value: Fraction) -> None:
    assert from_json(Part, {"number": 1, "share": share}).share == value


@pytest.mark.parametrize("text", ["", "{", b"\xff", "[" * 100_000, '{"name": 1' + "0" * 5000 + "}"])
def test_text_that_is_no_json_is_a_form_error_in_one_line(text: str | bytes) -> None:
    with pytest.raises(FormError, match="report: not JSON") as caught:
        loads(Whole, text, "report")
    assert "\n" not in str(caught.value)


def test_text_of_any_length_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonform, "MAX_TEXT", 10)
    with pytest.raises(FormError, match="11 bytes of JSON, more than the 10 read here"):
        loads(Whole, '{"name": 1}')


def test_bad_value_is_shown_short() -> None:
    with pytest.raises(FormError) as caught:
        from_json(Whole, {"name": "a", "colour": "x" * 10_000})
    assert len(str(caught.value)) < 200
