from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from planted import Crashes, DropsLastFrames, Hangs, HangsAtExit, HangsWhenLeftWithALogLevel, Healthy, toy_clip

from pytest_videodecode.checks.base import run
from pytest_videodecode.checks.early_exit import EARLY, FRAMES, HEIGHT, MOST_HANGS, THREADS, WIDTH, early_exit
from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.clips.catalogue import CATALOGUE
from pytest_videodecode.clips.rules import require_usable
from pytest_videodecode.model import Clip, ClipSpec, DecodeRequest, Outcome, Status

#: Left after each early frame, of the file and of a damaged copy; and one end of the process.
ONE_SETTING = 2 * EARLY + 1


@pytest.fixture
def clip(clip_cache: ClipCache) -> Clip:
    return clip_cache.clip(ClipSpec(codec="mpeg4"))


def test_function_is_asked_for_its_first_frames(clip: Clip, tmp_path: Path) -> None:
    decoder = Healthy(clip)
    verdict = run(early_exit, decoder.damageable(tmp_path))
    assert verdict.status is Status.PASSED
    assert (verdict.evidence["left_early"], verdict.evidence["processes_ended"]) == (2 * EARLY, 1)
    assert {request.indices for request in decoder.requests} == {(0,), (0, 1), (0, 1, 2), (0, 1, 2, 3)}
    assert {request.threads for request in decoder.requests} == {THREADS}
    assert {(request.stop_after, request.thread_type, request.log_level) for request in decoder.requests} == {
        (None, None, None)
    }


def test_decoder_that_stops_early_is_left_in_the_middle_at_every_setting(clip: Clip, tmp_path: Path) -> None:
    class Iterates(HangsWhenLeftWithALogLevel):
        def answer(self, request: DecodeRequest, wanted: list[int]) -> Outcome:
            return Healthy.answer(self, request, wanted[: request.stop_after])

    decoder = Iterates(clip)
    verdict = run(early_exit, decoder.damageable(tmp_path))
    assert (verdict.status, verdict.reason) == (Status.PASSED, "")
    settings = Counter((request.log_level, request.thread_type) for request in decoder.requests)
    assert settings == {(level, kind): ONE_SETTING for level in (None, "ERROR") for kind in (None, "SLICE", "FRAME")}
    assert {request.stop_after for request in decoder.requests} == {1, 2, 3, 4}
    assert all(request.asked == 9 for request in decoder.requests)


def test_process_ends_on_a_damaged_copy_once_a_setting(clip: Clip, tmp_path: Path) -> None:
    decoder = Healthy(clip)
    run(early_exit, decoder.damageable(tmp_path))
    (last,) = [request for request in decoder.requests if request.then_exit]
    assert last is decoder.requests[-1]
    assert Path(last.path).parent == tmp_path


def test_real_file_is_left_as_it_is(clip: Clip, tmp_path: Path) -> None:
    decoder = Healthy(replace(clip, spec=None))
    run(early_exit, decoder.damageable(tmp_path))
    assert {request.path for request in decoder.requests} == {clip.path}
    assert [request.then_exit for request in decoder.requests] == [False] * EARLY + [True]


def test_no_more_hangs_are_waited_for_than_are_needed(clip: Clip, tmp_path: Path) -> None:
    decoder = Hangs(clip)
    verdict = run(early_exit, decoder.damageable(tmp_path))
    assert verdict.status is Status.FAILED
    assert verdict.evidence["hangs"] == MOST_HANGS
    assert len(decoder.requests) == 2 + MOST_HANGS


def test_crash_fails_and_does_not_keep_the_rest_from_being_tried(clip: Clip, tmp_path: Path) -> None:
    decoder = Crashes(clip)
    verdict = run(early_exit, decoder.damageable(tmp_path))
    assert verdict.reason.startswith("with threads=8: asked 3 frames from 0 to 2, got crash (SIGSEGV)")
    assert len(decoder.requests) == ONE_SETTING


def test_hang_at_exit_names_the_phase(clip: Clip, tmp_path: Path) -> None:
    info = replace(Healthy.info, log_levels=True, threads_by="")
    verdict = run(early_exit, HangsAtExit(clip).damageable(tmp_path, decoder=info))
    assert verdict.reason.startswith("with its own settings: asked frame 0, got hang in exit after 3 s, GIL held")
    assert "with log level ERROR: " in verdict.evidence["wrong"][1]
    assert verdict.evidence["request"]["then_exit"] is True


def test_wrong_answer_on_the_intact_file_is_not_taken_for_a_clean_end(clip_cache: ClipCache, tmp_path: Path) -> None:
    decoder = DropsLastFrames(clip_cache.clip(ClipSpec(codec="mpeg4", frames=3)))
    verdict = run(early_exit, decoder.damageable(tmp_path))
    assert "asked frame 1, got no picture and no error (picture 2 of 3, pattern 'left after frame 2'" in verdict.reason


@pytest.mark.parametrize("name", CATALOGUE)
def test_large_variant_of_every_named_clip_can_be_made(clip: Clip, name: str) -> None:
    made: list[ClipSpec] = []

    def variant(spec: ClipSpec) -> Clip:
        made.append(spec)
        return toy_clip(0)

    run(early_exit, Healthy(replace(clip, spec=CATALOGUE[name])).subject(variant=variant))
    (spec,) = made
    require_usable(spec)
    assert (spec.width, spec.height, spec.frames, spec.gop) == (WIDTH, HEIGHT, FRAMES, FRAMES)
    assert spec.codec == CATALOGUE[name].codec
