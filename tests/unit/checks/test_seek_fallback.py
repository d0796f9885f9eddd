from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from planted import FallbackRaises, FallsBackToTheStart, Hangs, Healthy, UnseekableRaises, toy_clip

from pytest_videodecode.checks.base import run
from pytest_videodecode.checks.seek_fallback import IO_BUFFER, index_last, seek_fallback
from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.model import Clip, ClipSpec, DecodeRequest, Observed, Outcome, Status


@pytest.fixture
def clip(tmp_path: Path) -> Clip:
    """A toy clip with a file too large for the I/O buffer."""
    path = tmp_path / "toy.mkv"
    path.write_bytes(bytes(IO_BUFFER + 1))
    return toy_clip(48, path=str(path))


def observing(decoder: Healthy, **changes: Any) -> Any:
    def decode(request: DecodeRequest) -> Outcome:
        outcome = decoder.decode(request)
        return dataclasses.replace(outcome, observed=Observed(**changes) if changes else None)

    return decode


def test_survived_failure_passes_with_its_proof(clip: Clip) -> None:
    decoder = Healthy(clip)
    verdict = run(seek_fallback, decoder.subject())
    assert verdict.status is Status.PASSED
    assert verdict.evidence["planted"] == verdict.evidence["natural"] == "1 of 1 seeks failed"
    assert [(request.faults, request.open_as) for request in decoder.requests] == [
        ((), "path"), (("seek",), "path"), ((), "unseekable"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("observed", "reason"),
    [
        ({}, "nothing could be observed inside this decoder's worker, so no seek was seen to fail"),
        ({"reason": "PyAV is absent"}, "no seek could be seen to fail: PyAV is absent"),
        ({"seeks": 2}, "2 seeks were made and none could be made to fail"),
        ({"seeks": 0}, "made no seek for a window in mid-stream, so there is nothing to fall back from"),
    ],
)
def test_failure_that_was_not_seen_is_unsupported(clip: Clip, observed: dict[str, Any], reason: str) -> None:
    decoder = Healthy(clip)
    verdict = run(seek_fallback, decoder.subject(decode=observing(decoder, **observed)))
    assert (verdict.status, verdict.reason) == (Status.UNSUPPORTED, reason)


@pytest.mark.parametrize("fault", [FallbackRaises, FallsBackToTheStart])
def test_failure_that_is_not_survived_fails_and_is_asked_no_further(clip: Clip, fault: type[Healthy]) -> None:
    decoder = fault(clip)
    verdict = run(seek_fallback, decoder.subject())
    assert verdict.status is Status.FAILED
    assert verdict.reason.startswith("with a failing seek: asked frame 36, got ")
    assert verdict.evidence["request"]["faults"] == ["seek"]
    assert len(decoder.requests) == 2


def test_hang_in_the_fallback_fails_though_nothing_was_observed(clip: Clip) -> None:
    class HangsAtFailure(Hangs):
        def answer(self, request: DecodeRequest, wanted: list[int]) -> Outcome:
            self.requests *= 3 if request.faults else 1
            return super().answer(request, wanted)

    decoder = HangsAtFailure(clip)
    verdict = run(seek_fallback, decoder.subject(decode=observing(decoder)))
    assert verdict.status is Status.FAILED
    assert "with a failing seek: asked 9 frames from 36 to 44, got hang" in verdict.reason


def test_natural_failure_is_judged_even_where_the_planted_one_was_not_seen(clip: Clip) -> None:
    decoder = UnseekableRaises(clip)
    verdict = run(seek_fallback, decoder.subject(decode=observing(decoder)))
    assert verdict.status is Status.FAILED
    assert "with a file object that cannot seek: asked frame 36, got PermissionError" in verdict.reason


def test_small_file_does_not_exercise_the_natural_failure(clip: Clip) -> None:
    Path(clip.path).write_bytes(bytes(IO_BUFFER))
    verdict = run(seek_fallback, UnseekableRaises(clip).subject())
    assert verdict.status is Status.PASSED
    assert verdict.evidence["natural"] == "not exercised: the file of 32768 bytes fits PyAV's buffer of 32768"


def test_decoder_of_paths_is_not_given_a_file_object(clip: Clip) -> None:
    decoder = UnseekableRaises(clip)
    verdict = run(seek_fallback, decoder.subject(decoder=dataclasses.replace(decoder.info, opens_as=("path",))))
    assert verdict.status is Status.PASSED
    assert verdict.evidence["natural"] == "not exercised: the decoder takes no file object"


@pytest.mark.parametrize(
    ("changes", "last"), [({}, False), ({"faststart": False}, True), ({"fragmented": True}, False)]
)
def test_index_after_the_pictures_is_seen(clip_cache: ClipCache, changes: dict[str, Any], last: bool) -> None:
    assert index_last(clip_cache.clip(ClipSpec(codec="mpeg4", **changes)).path) is last


@pytest.mark.parametrize(
    "content",
    [b"", b"\0", bytes(64), b"RIFF" + bytes(60), b"\0\0\0\x10ftypisom\0\0\0\0" + b"\0\0\0\x03free", b"\0\0\0\x01ftyp"],
)
def test_file_that_is_no_mp4_has_no_index_after_its_pictures(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert not index_last(str(path))
