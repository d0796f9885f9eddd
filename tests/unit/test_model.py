from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_videodecode.errors import FormError
from pytest_videodecode.jsonform import from_json, to_json
from pytest_videodecode.model import (
    Clip,
    ClipSpec,
    DecodeRequest,
    ErrorInfo,
    Hang,
    Outcome,
    OutcomeKind,
    Status,
    Verdict,
)

SPECS = st.builds(
    ClipSpec,
    codec=st.sampled_from(["av1", "h264"]),
    container=st.sampled_from(["mp4", "mkv"]),
    width=st.integers(1, 4096),
    frames=st.integers(1, 999),
    rate=st.fractions(1, 240, max_denominator=1001),
    gop=st.integers(1, 300),
    open_gop=st.booleans(),
    faststart=st.booleans(),
    start=st.fractions(0, 100, max_denominator=1000),
    quality=st.none() | st.integers(0, 63),
    texture=st.integers(0, 2**32 - 1),
)


@given(SPECS)
def test_spec_is_read_back_from_its_name(spec: ClipSpec) -> None:
    assert ClipSpec.parse(spec.name) == spec


def test_name_tells_what_is_not_the_default() -> None:
    assert ClipSpec().name == "av1"
    spec = ClipSpec(codec="h264", bframes=2, faststart=False, rate=Fraction(30000, 1001), quality=20)
    assert spec.name == "h264:rate=30000/1001:bframes=2:faststart=false:quality=20"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("h264:gop", "clip 'h264:gop': 'gop' is not field=value"),
        ("h264:gap=3", "clip 'h264:gap=3': unknown field 'gap'; known are codec, "),
        ("h264:gop=many", "clip 'h264:gop=many'.gop: expected int, got str"),
        ("h264:gop=-1", "clip 'h264:gop=-1'.gop: expected int, got str"),
        ("h264:gop=true", "clip 'h264:gop=true'.gop: expected int, got bool"),
        ("h264:open_gop=1", "clip 'h264:open_gop=1'.open_gop: expected bool, got int"),
        ("h264:rate=30/0", "clip 'h264:rate=30/0'.rate: expected a fraction such as '30000/1001'"),
        ("h264:container=7", "clip 'h264:container=7'.container: expected str, got int"),
        ("h264:frames=" + "9" * 5000, "clip 'h264:frames=999"),
    ],
)
def test_text_that_names_no_spec_is_a_form_error(text: str, said: str) -> None:
    with pytest.raises(FormError) as caught:
        ClipSpec.parse(text)
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


def test_rate_and_start_are_read_in_all_their_forms() -> None:
    assert ClipSpec.parse("h264:rate=25:start=1/3").rate == 25
    assert ClipSpec.parse("h264:rate=29.97").rate == Fraction(2997, 100)
    assert ClipSpec.parse("h264:quality=none").quality is None


def test_clip_counts_the_frames_it_shows_and_keeps_its_reader_out_of_json() -> None:
    clip = Clip(
        name="toy",
        path="/toy.mp4",
        codec="h264",
        width=4,
        height=4,
        times=(Fraction(0), Fraction(1, 30)),
        keyframes=(0,),
        read=lambda frames, expected: [],
    )
    assert clip.frames == 2
    assert "read" not in to_json(clip)


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        (DecodeRequest(path="a", indices=(3, 4)), "frames by index [3, 4]"),
        (DecodeRequest(path="a", timestamps=(0.5,), threads=0), "frames by timestamp [0.5], threads=0"),
        (
            DecodeRequest(path="a", indices=tuple(range(20)), thread_type="FRAME", open_as="unseekable"),
            "frames by index [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, … 20 in all], "
            "thread_type=FRAME, opened as unseekable",
        ),
        (DecodeRequest(path="a", indices=(), faults=("seek",)), "frames by index [], with a failing seek"),
    ],
)
def test_request_is_told_in_one_line(request_: DecodeRequest, text: str) -> None:
    assert str(request_) == text


def test_request_counts_what_it_asks() -> None:
    assert DecodeRequest(path="a", indices=(1, 1)).asked == 2
    assert DecodeRequest(path="a", timestamps=(0.5,)).asked == 1
    assert DecodeRequest(path="a").asked == 0


ERROR = ErrorInfo(type="av.error.InvalidDataError", message="bad packet")


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        ({"kind": "frames", "count": 9}, "9 frames"),
        ({"kind": "partial", "count": 3, "error": ERROR}, "3 frames, then av.error.InvalidDataError: bad packet"),
        ({"kind": "error", "error": ERROR}, "av.error.InvalidDataError: bad packet"),
        ({"kind": "error", "error": ErrorInfo(type="EOFError", message="")}, "EOFError"),
        ({"kind": "silent_loss", "count": 8}, "8 frames and no error"),
        ({"kind": "hang"}, "hang"),
        ({"kind": "hang", "hang": Hang(limit_s=20)}, "hang after 20 s"),
        ({"kind": "hang", "hang": Hang(limit_s=0.5, gil_held=True)}, "hang after 0.5 s, GIL held"),
        ({"kind": "hang", "hang": Hang(limit_s=0.5, gil_held=False)}, "hang after 0.5 s, GIL released"),
        ({"kind": "crash", "signal": "SIGSEGV"}, "crash (SIGSEGV)"),
        ({"kind": "out_of_memory"}, "out of memory"),
        ({"kind": "out_of_memory", "error": ERROR}, "out of memory (av.error.InvalidDataError: bad packet)"),
    ],
)
def test_outcome_is_told_in_words(outcome: dict[str, Any], text: str) -> None:
    assert str(Outcome(**{**outcome, "kind": OutcomeKind(outcome["kind"])})) == text


def test_outcome_and_verdict_survive_json() -> None:
    outcome = Outcome(kind=OutcomeKind.HANG, hang=Hang(limit_s=1.0, thread_names={"dav1d-worker": 4}), log="last line")
    assert from_json(Outcome, to_json(outcome)) == outcome
    verdict = Verdict(check="c", decoder="d", clip="e", status=Status.FAILED, evidence={"wrong": ["a", {"b": 1.5}]})
    assert from_json(Verdict, to_json(verdict)) == verdict
