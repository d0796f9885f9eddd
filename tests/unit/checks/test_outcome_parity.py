from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from planted import (
    Crashes,
    Healthy,
    OneLevelOffOnDamageAtFourThreads,
    OtherErrorOnDamageAtFourThreads,
    error,
    toy_clip,
)

from pytest_videodecode.checks.base import run
from pytest_videodecode.checks.outcome_parity import WINDOWS, outcome_parity
from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.model import Clip, ClipSpec, DecodeRequest, Outcome, OutcomeKind, Status

THREE = 12 + 2 * WINDOWS


class ReadsAhead(Healthy):
    """A file cut at 60 %: at four threads the last frames before the cut are given up with those behind it."""

    def on_damage(self, request: DecodeRequest, wanted: list[int]) -> Outcome:
        share = Path(request.path).stat().st_size / Path(self.clip.path).stat().st_size
        whole = 20 if request.threads == 4 else 23
        if share < 1 and max(wanted) <= whole:
            return super().answer(request, wanted)
        return super().on_damage(request, wanted)


class GivesUpEarly(Healthy):
    """At four threads nothing of a damaged file is returned, however far from the damage."""

    def on_damage(self, request: DecodeRequest, wanted: list[int]) -> Outcome:
        if request.threads != 4 and max(wanted) < 9:
            return super().answer(request, wanted)
        return super().on_damage(request, wanted)


@pytest.fixture
def clip(clip_cache: ClipCache) -> Clip:
    return clip_cache.clip(ClipSpec(codec="av1"))


def test_evidence_has_the_table_of_every_side(clip: Clip, tmp_path: Path) -> None:
    decoder = Healthy(clip)
    verdict = run(outcome_parity, decoder.damageable(tmp_path))
    assert verdict.status is Status.PASSED
    tables = verdict.evidence["outcomes"]
    assert list(tables) == [
        "flip 200 scattered bytes in media (seed 0)",
        "flip 3 scattered bytes in media (seed 0)",
        "keep the first 60% of the file",
    ]
    assert tables["keep the first 60% of the file"] == dict.fromkeys(
        ["threads=1", "threads=0", "threads=2", "threads=4"], "0 decoded, 48 ValueError, 0 hangs"
    )
    assert len(decoder.requests) == 4 * THREE


def test_every_side_is_asked_the_same_windows_chosen_by_the_seed(clip: Clip, tmp_path: Path) -> None:
    asked = {}
    for seed in (1, 2):
        decoder = Healthy(clip)
        run(outcome_parity, decoder.damageable(tmp_path, seed=seed, threads=(1, 4)))
        one, four = ([decoder.wanted(r) for r in decoder.requests if r.threads == count] for count in (1, 4))
        assert one == four
        assert len({tuple(frames) for frames in one}) > WINDOWS // 2
        asked[seed] = one
    assert asked[1] != asked[2]


def test_window_just_before_the_damage_may_end_either_way(clip: Clip, tmp_path: Path) -> None:
    verdict = run(outcome_parity, ReadsAhead(clip).damageable(tmp_path))
    assert verdict.status is Status.PASSED
    assert "ValueError, not decoded" in verdict.evidence["not_judged"][0]


def test_window_far_from_the_damage_may_not(clip: Clip, tmp_path: Path) -> None:
    verdict = run(outcome_parity, GivesUpEarly(clip).damageable(tmp_path))
    assert verdict.status is Status.FAILED
    assert "ValueError, not decoded" in verdict.reason


@pytest.mark.parametrize(("codec", "status"), [("av1", Status.FAILED), ("h264", Status.PASSED)])
def test_other_pixels_fail_on_av1_and_are_reported_elsewhere(
    clip_cache: ClipCache, tmp_path: Path, codec: str, status: Status
) -> None:
    decoder = OneLevelOffOnDamageAtFourThreads(clip_cache.clip(ClipSpec(codec=codec)))
    verdict = run(outcome_parity, decoder.damageable(tmp_path))
    assert verdict.status is status
    told = verdict.evidence["wrong" if status is Status.FAILED else "not_judged"]
    assert len(told) == 3
    assert "windows return other pixels" in told[0]


def test_pictures_before_an_exception_are_compared_as_far_as_both_have_them(clip: Clip, tmp_path: Path) -> None:
    class Partly(Healthy):
        off = 0

        def on_damage(self, request: DecodeRequest, wanted: list[int]) -> Outcome:
            count = 1 if request.threads == 4 else 2
            frames = self.pictures[wanted[:count]]
            frames[0, 0, 0] ^= self.off * (request.threads == 4)
            invalid = error(ValueError, "invalid data")
            return Outcome(kind=OutcomeKind.PARTIAL, frames=frames, count=count, error=invalid)

    decoder = Partly(clip)
    assert run(outcome_parity, decoder.damageable(tmp_path)).status is Status.PASSED
    decoder.off = 1
    assert "windows return other pixels" in run(outcome_parity, decoder.damageable(tmp_path)).reason


def test_twin_is_held_against_the_first_setting(clip: Clip, tmp_path: Path) -> None:
    twin = OtherErrorOnDamageAtFourThreads(clip)

    def at_four_threads(request: DecodeRequest) -> Outcome:
        return twin.decode(replace(request, threads=4))

    verdict = run(outcome_parity, Healthy(clip).damageable(tmp_path, twin=at_four_threads))
    assert verdict.status is Status.FAILED
    assert ", twin: 0 decoded, 12 IndexError, 0 hangs, against threads=1: 0 decoded, 12 ValueError" in verdict.reason
    assert run(outcome_parity, Healthy(clip).damageable(tmp_path, twin=Healthy(clip).decode)).status is Status.PASSED


def test_crash_ends_the_check(clip: Clip, tmp_path: Path) -> None:
    decoder = Crashes(clip)
    verdict = run(outcome_parity, decoder.damageable(tmp_path))
    assert "got crash (SIGSEGV)" in verdict.reason
    assert len(decoder.requests) == 3


def test_clip_of_one_frame_is_compared(clip_cache: ClipCache, tmp_path: Path) -> None:
    decoder = Healthy(clip_cache.clip(ClipSpec(codec="mpeg4", frames=1)))
    assert run(outcome_parity, decoder.damageable(tmp_path)).status is Status.PASSED


def test_nothing_to_compare_is_unsupported(clip: Clip, tmp_path: Path) -> None:
    decoder = Healthy(clip)
    verdict = run(outcome_parity, decoder.damageable(tmp_path, decoder=replace(decoder.info, threads_by="")))
    assert verdict.status is Status.UNSUPPORTED
    assert verdict.reason.startswith("there is nothing to compare with: no thread count reaches this decoder; ")
    assert verdict.reason.endswith("or name a second decoder as twin")
    assert run(outcome_parity, Healthy(toy_clip(4)).subject()).status is Status.UNSUPPORTED


@pytest.mark.parametrize(("codec", "status"), [("av1", Status.PASSED), ("h264", Status.FAILED)])
def test_libdav1d_may_keep_silent_about_damage_of_the_last_frames(
    clip_cache: ClipCache, tmp_path: Path, codec: str, status: Status
) -> None:
    class MissesTheError(Healthy):
        def on_damage(self, request: DecodeRequest, wanted: list[int]) -> Outcome:
            kind = IndexError if request.threads == 4 else ValueError
            return Outcome(kind=OutcomeKind.ERROR, error=error(kind, "no frame"))

    decoder = MissesTheError(clip_cache.clip(ClipSpec(codec=codec, frames=6)))
    assert run(outcome_parity, decoder.damageable(tmp_path)).status is status


def test_large_clip_has_fewer_windows(clip: Clip, tmp_path: Path) -> None:
    decoder = Healthy(clip)
    decoder.clip = replace(clip, width=1920, height=1080)
    run(outcome_parity, decoder.damageable(tmp_path, threads=(1, 2)))
    assert len(decoder.requests) == 2 * 3 * 2
