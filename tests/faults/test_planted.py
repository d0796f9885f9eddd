"""Every planted fault is caught by the check that is there for it, in words that name asked and came."""

from __future__ import annotations

import re

import planted
import pytest

from pytest_videodecode.checks.base import run
from pytest_videodecode.checks.catalogue import CHECKS
from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.model import ClipSpec, Status

CODECS = ("av1", "h264", "mpeg4")

CAUGHT = [
    (planted.OffByOne, "h264", "frame_identity", r"asked frame 1, got frame 0 \(picture 2 of 9, pattern 'start win"),
    (planted.OffByOneAfterSeek, "h264", "frame_identity", r"asked frame 36, got frame 37 \(picture 1 of 9, .*'late"),
    (planted.OffByOneByTime, "h264", "frame_identity", r"asked frame 0, got frame 1 \(.*by timestamp"),
    (planted.DropsLastFrames, "h264", "frame_identity", r"asked frame 46, got no picture and no error .*; 7 pictures"),
    (planted.OneTooMany, "h264", "frame_identity", r"asked 9 frames from 0 to 8, got 10 pictures"),
    (planted.PreviousBatch, "h264", "frame_identity", r"asked frame 36, got frame 8 "),
    (planted.SortsRequests, "h264", "frame_identity", r"asked frame \d+, got frame \d+ \(picture 1 of 12.*'unsorted'"),
    (planted.IgnoresRepeats, "h264", "frame_identity", r"asked frame \d+, got frame \d+ .*'repeated'.*; 2 pictures"),
    (planted.GreyPictures, "h264", "frame_identity", r"asked frame 0, got a picture that shows no frame of the clip"),
    (planted.OneLevelOffAtFourThreads, "av1", "thread_parity", r"with threads=4 against threads=1: asked frame 5, got "
     r"frame 5 with other pixels: 1 of 73728 values differ, by at most 1 \(picture 6 of 33"),
    (planted.LosesTailInALongPipeline, "h264", "thread_parity", r"with threads=49 .*, got .* and no error where"),
    (planted.OffByOneAfterSeek, "av1", "seek_parity", r"asked frame 8, got frame 9 \(picture 1 of 1, pattern 'alone'"),
    (planted.NextAtGopEnd, "h264", "seek_parity", r"asked frame 7, got frame 8 .*'alone'.*; \d+ more wrong"),
    (planted.StaleAfterEnd, "h264", "seek_parity", r"asked frame 4\d, got frame 47 \(.*'backwards'"),
    (planted.FallsBackToTheStart, "h264", "seek_fallback", r"with a failing seek: asked frame 36, got frame 0 "),
    (planted.FallbackRaises, "av1", "seek_fallback", r"a failing seek: asked frame 36, got AttributeError: .*AVErr"),
    (planted.UnseekableRaises, "av1", "seek_fallback", r"cannot seek: asked frame 36, got PermissionError"),
    (planted.PoolPerCore, "av1", "thread_cap", r"no thread count asked: 16 dav1d-worker threads .* promised cap is 2"),
    (planted.AutomaticPool, "av1", "thread_cap", r"no thread count asked: 8 dav1d-worker threads at peak"),
    (planted.IgnoresOverride, "av1", "thread_cap", r"threads=1 asked: libdav1d was opened with .* 2, expected 1"),
    (planted.ConversionPool, "av1", "thread_cap", r"count asked: 4 OS threads added .*, 2 of them libdav1d's"),
    (planted.CapsEveryCodec, "h264", "thread_cap", r"h264 was made with thread_count 0 .* left with 2 and SLICE"),
    (planted.CapsEveryCodec, "mpeg4", "thread_cap", r"mpeg4 was made with thread_count 0 .* left with 2 and SLICE"),
    (planted.GrowsUnseen, "mpeg4", "thread_cap", r"threads=1 asked: 4 OS threads added at peak where 3 are added"),
    (planted.OtherThreadType, "h264", "thread_cap", r"type SLICE, and left with \d+ and FRAME"),
    (planted.OneInFive, "h264", "determinism", r"at time 5 of 5: asked frame \d+, got frame \d+ with other pixels"),
]  # fmt: skip


@pytest.mark.parametrize("case", [pytest.param(case, id=f"{case[0].__name__}-{case[1]}-{case[2]}") for case in CAUGHT])
def test_planted_fault_is_caught_by_its_check(
    clip_cache: ClipCache, monkeypatch: pytest.MonkeyPatch, case: tuple[type[planted.Healthy], str, str, str]
) -> None:
    fault, codec, check, message = case
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: set(range(8)), raising=False)
    verdict = run(CHECKS[check], fault(clip_cache.clip(ClipSpec(codec=codec))).subject())
    assert verdict.status is Status.FAILED
    assert re.search(message, verdict.reason)
    assert "\n" not in verdict.reason


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("cores", [1, 2, 64])
def test_healthy_decoder_passes(
    clip_cache: ClipCache, monkeypatch: pytest.MonkeyPatch, codec: str, check: str, cores: int
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: set(range(cores)), raising=False)
    verdict = run(CHECKS[check], planted.Healthy(clip_cache.clip(ClipSpec(codec=codec))).subject())
    assert (verdict.status, verdict.reason) == (Status.PASSED, "")


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(
    ("fault", "words"), [(planted.Hangs, "got hang after 5 s, GIL held"), (planted.Crashes, "got crash (SIGSEGV)")]
)
def test_hang_and_crash_fail_every_check_at_once(
    clip_cache: ClipCache, check: str, fault: type[planted.Healthy], words: str
) -> None:
    decoder = fault(clip_cache.clip(ClipSpec(codec="av1")))
    verdict = run(CHECKS[check], decoder.subject())
    assert verdict.status is Status.FAILED
    assert words in verdict.reason
    assert len(decoder.requests) == 3
