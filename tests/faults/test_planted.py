"""Every planted fault is caught by the check that is there for it, in words that name asked and came."""

from __future__ import annotations

import re
from pathlib import Path

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
    (planted.LosesFramesOnDamage, "av1", "damage_outcome", r"^flip 200 scattered bytes in media \(seed \d+\): asked "
     r"frame 8, got no picture and no error \(picture 9 of 9, pattern 'into the damage', by index\); 8 pictures came"),
    (planted.NeighbourOnDamage, "h264", "damage_outcome", r"^flip 3 scattered bytes in media \(seed \d+\): asked "
     r"frame \d+, got frame \d+ \(picture 1 of 9, .*; the damage does not reach it; 2 such pictures; \d+ more wrong"),
    (planted.MakesUpLostFrames, "mpeg4", "damage_outcome", r"^keep the first 60% of the file: asked frame \d+, got "
     r"frame 26 \(picture \d of 9, .*; nothing of it is left in the file; \d such pictures"),
    (planted.RaisesKeyErrorOnDamage, "av1", "damage_outcome", r"asked frame 0, got KeyError: 'pts' .*; allowed "
     r"are av.error.FFmpegError, ValueError, .*more wrong"),
    (planted.HangsOnDamage, "av1", "damage_outcome", r"seed \d+\): asked 9 frames from 0 to 8, got hang in close "
     r"after 3 s, GIL held \(pattern 'into the damage'"),
    (planted.LosesFramesOnDamage, "h264", "silent_loss", r"mp4.*, keep the first 5% of the file: asked frame 47, got "
     r"no picture and no error .*'whole clip'"),
    (planted.MakesUpLostFrames, "h264", "silent_loss", r"keep the first 5% of the file: asked frame \d+, got frame \d "
     r"\(.*'whole clip', by index\); nothing of it is left in the file; \d+ such pictures"),
    (planted.OtherErrorOnDamageAtFourThreads, "av1", "outcome_parity", r"^flip 200 .*, threads=4: 0 decoded, 12 "
     r"IndexError, 0 hangs, against threads=1: 0 decoded, 12 ValueError, 0 hangs; 12 windows end otherwise, such as "
     r"frames \d+ to \d+ by index: IndexError, not ValueError; 2 more wrong"),
    (planted.LosesFramesOnDamageAtFourThreads, "h264", "outcome_parity", r"threads=4: 0 decoded, 12 fewer frames "
     r"without an error, 0 hangs, against threads=1: 0 decoded, 12 ValueError, 0 hangs"),
    (planted.OneLevelOffOnDamageAtFourThreads, "av1", "outcome_parity", r"threads=4: 12 decoded, 0 hangs, against "
     r"threads=1: 12 decoded, 0 hangs; 12 windows return other pixels, such as frames \d+ to \d+ by index; 2 more"),
    (planted.HangsOnDamage, "h264", "outcome_parity", r"^flip 200 .*, threads=1: asked 3 frames from \d+ to \d+, got "
     r"hang in close after 3 s, GIL held .*\(0 decoded, 1 hangs\)"),
    (planted.HangsAtExit, "h264", "early_exit", r"^with threads=8: asked frame 0, got hang in exit after 3 s, GIL "
     r"held \(pattern 'the process ends after frame 0 of a damaged copy'"),
    (planted.HangsWhenLeftWithALogLevel, "h264", "early_exit", r"^with threads=8 FRAME log level ERROR: asked frame "
     r"0, got hang in close after 3 s, GIL held \(pattern 'left after frame 0', by index\); 1 more wrong"),
]  # fmt: skip


@pytest.mark.parametrize("case", [pytest.param(case, id=f"{case[0].__name__}-{case[1]}-{case[2]}") for case in CAUGHT])
def test_planted_fault_is_caught_by_its_check(
    clip_cache: ClipCache,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    case: tuple[type[planted.Healthy], str, str, str],
) -> None:
    fault, codec, check, message = case
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: set(range(8)), raising=False)
    verdict = run(CHECKS[check], fault(clip_cache.clip(ClipSpec(codec=codec))).damageable(tmp_path))
    assert verdict.status is Status.FAILED
    assert re.search(message, verdict.reason)
    assert "\n" not in verdict.reason


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("cores", [1, 2, 64])
def test_healthy_decoder_passes(
    clip_cache: ClipCache, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, codec: str, check: str, cores: int
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: set(range(cores)), raising=False)
    verdict = run(CHECKS[check], planted.Healthy(clip_cache.clip(ClipSpec(codec=codec))).damageable(tmp_path))
    assert (verdict.status, verdict.reason) == (Status.PASSED, "")


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(
    ("fault", "words"), [(planted.Hangs, "got hang after 5 s, GIL held"), (planted.Crashes, "got crash (SIGSEGV)")]
)
def test_hang_and_crash_fail_every_check_at_once(
    clip_cache: ClipCache, tmp_path: Path, check: str, fault: type[planted.Healthy], words: str
) -> None:
    decoder = fault(clip_cache.clip(ClipSpec(codec="av1")))
    verdict = run(CHECKS[check], decoder.damageable(tmp_path))
    assert verdict.status is Status.FAILED
    assert words in verdict.reason
    assert len(decoder.requests) == 3 or check == "early_exit"  # which has a test of its own
