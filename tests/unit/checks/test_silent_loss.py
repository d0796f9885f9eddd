from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from planted import Crashes, Healthy, LosesFramesOnDamage, RaisesKeyErrorOnDamage, toy_clip

from pytest_videodecode.checks.base import Subject, run
from pytest_videodecode.checks.silent_loss import silent_loss
from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.errors import Unsupported
from pytest_videodecode.model import Clip, ClipSpec, Status

InContainers = Callable[[Healthy, list[ClipSpec]], Subject]


@pytest.fixture
def in_containers(clip_cache: ClipCache, tmp_path: Path) -> InContainers:
    """A decoder as the check is handed it, and a list that the specs of the clips made are added to."""

    def subject(decoder: Healthy, made: list[ClipSpec]) -> Subject:
        def variant(spec: ClipSpec) -> Clip:
            made.append(spec)
            return clip_cache.clip(spec)

        return decoder.damageable(tmp_path, variant=variant)

    return subject


@pytest.mark.parametrize(
    ("codec", "containers"), [("av1", ["mkv"]), ("h264", ["mkv", "ts", "avi"]), ("hevc", ["mkv", "ts"])]
)
def test_codec_is_cut_in_every_container_that_takes_it(
    clip_cache: ClipCache, in_containers: InContainers, codec: str, containers: list[str]
) -> None:
    made: list[ClipSpec] = []
    decoder = Healthy(clip_cache.clip(ClipSpec(codec=codec)))
    verdict = run(silent_loss, in_containers(decoder, made))
    assert verdict.status is Status.PASSED
    assert [spec.container for spec in made] == containers
    assert len(decoder.requests) == 18 * len(containers)
    assert {request.asked for request in decoder.requests} == {48, 9, 1}


def test_awkward_spec_is_fitted_to_the_container(clip_cache: ClipCache, in_containers: InContainers) -> None:
    made: list[ClipSpec] = []
    spec = ClipSpec(codec="h264", faststart=False, variable_rate=True, bframes=2)
    verdict = run(silent_loss, in_containers(Healthy(clip_cache.clip(spec)), made))
    assert verdict.status is Status.PASSED
    assert [(one.container, one.variable_rate, one.bframes) for one in made] == [
        ("mkv", True, 2), ("ts", True, 2), ("avi", False, 2),
    ]  # fmt: skip


def test_loss_is_named_by_container_cut_and_frame(clip_cache: ClipCache, in_containers: InContainers) -> None:
    decoder = LosesFramesOnDamage(clip_cache.clip(ClipSpec(codec="mpeg4")))
    subject = replace(in_containers(decoder, []), decoder=replace(decoder.info, asks=("indices",)))
    verdict = run(silent_loss, subject)
    assert verdict.status is Status.FAILED
    assert verdict.reason.startswith(
        "mkv, keep the first 5% of the file: asked frame 47, got no picture and no error "
    )


def test_any_error_is_right_here(clip_cache: ClipCache, in_containers: InContainers) -> None:
    decoder = RaisesKeyErrorOnDamage(clip_cache.clip(ClipSpec(codec="av1")))
    assert run(silent_loss, in_containers(decoder, [])).status is Status.PASSED


def test_real_file_is_cut_as_it_is_where_its_container_ends_cleanly(clip_cache: ClipCache, tmp_path: Path) -> None:
    clip = replace(clip_cache.clip(ClipSpec(codec="h264", container="ts")), spec=None)
    decoder = Healthy(clip)
    verdict = run(silent_loss, decoder.damageable(tmp_path, variant=clip_cache.clip))
    assert verdict.status is Status.PASSED
    assert verdict.evidence["containers"] == ["mpegts"]

    verdict = run(silent_loss, decoder.damageable(tmp_path, clip=replace(clip, container="ogg")))
    assert verdict.status is Status.UNSUPPORTED
    assert "ogg" in verdict.reason


def test_missing_encoder_is_unsupported(clip_cache: ClipCache, tmp_path: Path) -> None:
    def variant(spec: ClipSpec) -> Clip:
        raise Unsupported("no encoder for av1 here")

    verdict = run(silent_loss, Healthy(clip_cache.clip(ClipSpec())).damageable(tmp_path, variant=variant))
    assert (verdict.status, verdict.reason) == (Status.UNSUPPORTED, "no encoder for av1 here")


def test_crash_ends_the_check(clip_cache: ClipCache, in_containers: InContainers) -> None:
    decoder = Crashes(clip_cache.clip(ClipSpec(codec="h264")))
    verdict = run(silent_loss, in_containers(decoder, []))
    assert "got crash (SIGSEGV)" in verdict.reason
    assert len(decoder.requests) == 3


def test_nothing_to_cut_is_unsupported(tmp_path: Path) -> None:
    assert run(silent_loss, Healthy(toy_clip(8)).subject()).status is Status.UNSUPPORTED
    assert run(silent_loss, Healthy(toy_clip(0)).damageable(tmp_path)).reason == (
        "the clip shows no frame that could be damaged"
    )
