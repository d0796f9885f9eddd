from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from planted import Crashes, Healthy, MakesUpLostFrames, NeighbourOnDamage, RaisesKeyErrorOnDamage, toy_clip

from pytest_videodecode.checks.base import run
from pytest_videodecode.checks.damage_outcome import damage_outcome
from pytest_videodecode.checks.damage_set import damage_set
from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.damage.damage import Damage, write_damaged
from pytest_videodecode.damage.packets import PacketOperator
from pytest_videodecode.errors import DamageError
from pytest_videodecode.model import Clip, ClipSpec, Status


@pytest.fixture
def clip(clip_cache: ClipCache) -> Clip:
    return clip_cache.clip(ClipSpec(codec="h264"))


def test_evidence_counts_outcomes_and_requests_stay_few(clip: Clip, tmp_path: Path) -> None:
    decoder = Healthy(clip)
    verdict = run(damage_outcome, decoder.damageable(tmp_path))
    assert verdict.status is Status.PASSED
    assert verdict.evidence["damages"] == len(damage_set(clip, 0))
    assert verdict.evidence["outcomes"] == {"error (ValueError)": len(decoder.requests)}
    assert verdict.evidence["not_made"] == {}
    assert 60 <= len(decoder.requests) <= 80
    assert all(request.path.startswith(str(tmp_path)) for request in decoder.requests)


def test_concealed_pictures_are_counted_and_not_judged(clip: Clip, tmp_path: Path) -> None:
    decoder = NeighbourOnDamage(clip)
    asked_by_time = replace(decoder.info, asks=("indices",))
    verdict = run(damage_outcome, decoder.damageable(tmp_path, decoder=asked_by_time))
    assert verdict.evidence["pictures"]["concealed"] > 0
    assert all("the damage does not reach it" in line or "nothing of it" in line for line in verdict.evidence["wrong"])


def test_failure_names_the_damage_and_carries_the_request(clip: Clip, tmp_path: Path) -> None:
    verdict = run(damage_outcome, MakesUpLostFrames(clip).damageable(tmp_path))
    assert verdict.status is Status.FAILED
    assert verdict.reason.startswith("keep the first 60% of the file: asked frame ")
    assert verdict.evidence["request"]["path"].startswith(str(tmp_path))


def test_allowed_errors_are_the_users(clip: Clip, tmp_path: Path) -> None:
    verdict = run(damage_outcome, RaisesKeyErrorOnDamage(clip).damageable(tmp_path, allowed_errors=("LookupError",)))
    assert verdict.status is Status.PASSED
    verdict = run(damage_outcome, Healthy(clip).damageable(tmp_path, allowed_errors=("av.FFmpegError",)))
    assert verdict.status is Status.FAILED
    assert "got ValueError: invalid data" in verdict.reason
    assert "allowed are av.FFmpegError" in verdict.reason


def test_seed_chooses_the_damage(clip: Clip, tmp_path: Path) -> None:
    paths = []
    for seed in (1, 1, 2):
        decoder = Healthy(clip)
        run(damage_outcome, decoder.damageable(tmp_path, seed=seed))
        paths.append([request.path for request in decoder.requests])
    assert paths[0] == paths[1] != paths[2]


def test_large_clip_is_asked_for_one_window_of_each_damage(clip: Clip, tmp_path: Path) -> None:
    decoder = Healthy(clip)
    decoder.clip = replace(clip, width=1920, height=1080)
    verdict = run(damage_outcome, decoder.damageable(tmp_path))
    assert len(decoder.requests) == verdict.evidence["damages"]


def test_damage_that_cannot_be_done_is_counted(clip: Clip, tmp_path: Path) -> None:
    def damaged(clip: Clip, damage: Damage) -> str:
        if isinstance(damage.operators[0], PacketOperator):
            raise DamageError("the file cannot be muxed again")
        return str(write_damaged(clip, damage, tmp_path))

    verdict = run(damage_outcome, Healthy(clip).damageable(tmp_path, damaged=damaged))
    assert verdict.status is Status.PASSED
    assert set(verdict.evidence["not_made"].values()) == {"the file cannot be muxed again"}
    assert verdict.evidence["damages"] + len(verdict.evidence["not_made"]) == len(damage_set(clip, 0))


def test_crash_ends_the_check(clip: Clip, tmp_path: Path) -> None:
    decoder = Crashes(clip)
    verdict = run(damage_outcome, decoder.damageable(tmp_path))
    assert "got crash (SIGSEGV)" in verdict.reason
    assert len(decoder.requests) == 3


@pytest.mark.parametrize(
    ("subject", "reason"),
    [
        (Healthy(toy_clip(8)).subject(), "no damaged copies can be made here"),
        (
            Healthy(toy_clip(0)).subject(damaged=lambda clip, damage: clip.path),
            "the clip shows no frame that could be damaged",
        ),
    ],
)
def test_nothing_to_damage_is_unsupported(subject: object, reason: str) -> None:
    verdict = run(damage_outcome, subject)  # type: ignore[arg-type]
    assert (verdict.status, verdict.reason) == (Status.UNSUPPORTED, reason)
