from __future__ import annotations

from pathlib import Path

import pytest

from pytest_videodecode.checks.catalogue import CHECKS
from pytest_videodecode.errors import ClipError, FormError, OptionError
from pytest_videodecode.model import ClipSpec, Status, Verdict
from pytest_videodecode.options import Settings
from pytest_videodecode.selection import Case, cases, in_order, source, sources, validate


def test_sources_are_generated_clips_then_files_each_once(tmp_path: Path) -> None:
    for name in ("b.mp4", "a.mkv", "notes.txt", "c.MOV"):
        (tmp_path / name).touch()
    single = tmp_path / "notes.txt"
    settings = Settings(
        codecs=("h264", "mpeg4:gop=4", "h264:gop=8", "mpeg4-bframes-avi"),
        clips=(str(tmp_path), str(single), str(tmp_path / "b.mp4")),
    )
    assert sources(settings) == [
        ClipSpec(codec="h264"),
        ClipSpec(codec="mpeg4", gop=4),
        ClipSpec(codec="mpeg4", container="avi", bframes=2),
        *(tmp_path / name for name in ("a.mkv", "b.mp4", "c.MOV", "notes.txt")),
    ]


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        (Settings(codecs=("nope",)), OptionError, "unknown codec 'nope'; known are av1"),
        (Settings(codecs=("h264:gap=1",)), FormError, "unknown field 'gap'"),
        (Settings(codecs=("mpeg4:frames=0",)), ClipError, "0 frames are not possible"),
        (Settings(codecs=()), OptionError, "no clip is named"),
    ],
)
def test_sources_that_are_none_are_refused(settings: Settings, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        sources(settings)


def test_folder_without_videos_is_refused_with_the_endings_that_count(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(OptionError, match=r"no video files in .*; endings known are \.264 .* \.y4m"):
        sources(Settings(codecs=(), clips=(str(tmp_path),)))


def test_folder_that_may_not_be_looked_into_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)  # no mode keeps root out
    with pytest.raises(OptionError, match=r"cannot look into .*: Permission denied; correct its permissions"):
        sources(Settings(clips=(str(tmp_path),)))


def test_cases_go_through_a_clip_before_the_next_and_through_a_decoder_before_the_next() -> None:
    settings = Settings(decoder=("pyav", "ffmpeg"), codecs=("h264", "av1"), checks=("determinism", "frame_identity"))
    assert [str(case) for case in cases(settings)] == [
        "pyav-h264-frame_identity",
        "pyav-h264-determinism",
        "pyav-av1-frame_identity",
        "pyav-av1-determinism",
        "ffmpeg-h264-frame_identity",
        "ffmpeg-h264-determinism",
        "ffmpeg-av1-frame_identity",
        "ffmpeg-av1-determinism",
    ]
    assert {case.check for case in cases(Settings())} == set(CHECKS)


def test_text_is_a_recipe_before_it_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "h264").touch()
    (tmp_path / "notes.txt").touch()
    assert source("h264") == ClipSpec(codec="h264")
    assert source("h264:gop=4") == ClipSpec(codec="h264", gop=4)
    assert source("h264-bframes") == ClipSpec(codec="h264", bframes=2)
    assert source("./h264") == Path("h264")
    assert source("notes.txt") == Path("notes.txt")
    assert source("not/there.mp4") == Path("not/there.mp4")
    with pytest.raises(OptionError, match="'vhs' is no clip; give a file, a codec"):
        source("vhs")


def test_validate_looks_at_the_settings_named_and_says_who_named_them() -> None:
    bad = Settings(decoder=("nosuch",), codecs=("nope",), checks=("nope",))
    validate(bad, {})
    validate(bad, {"threads": "--threads"})
    for name, said in {
        "decoder": "decoder 'nosuch' is unknown",
        "codecs": "unknown codec",
        "checks": "no check",
    }.items():
        with pytest.raises(OptionError, match=f"^the {name}: .*{said}"):
            validate(bad, {name: f"the {name}"})


@pytest.mark.parametrize("name", ["all", "determinism", "h264", "h264:gop=4", "pyav,threads=2", "own.mp4"])
def test_names_of_the_run_can_be_required(tmp_path: Path, name: str) -> None:
    (tmp_path / "own.mp4").touch()
    settings = Settings(decoder=("pyav,threads=2",), codecs=("h264:gop=4",), clips=(str(tmp_path),), require=(name,))
    validate(settings, {"require": "--require"})


def verdict(decoder: str, clip: str, check: str) -> Verdict:
    return Verdict(check=check, decoder=decoder, clip=clip, status=Status.PASSED)


def test_verdicts_are_put_in_the_order_of_the_cases_and_others_behind_them_by_name() -> None:
    settings = Settings(decoder=("pyav", "ffmpeg"), codecs=("h264", "av1"))
    wanted = [
        verdict("pyav", "h264", "frame_identity"),
        verdict("pyav", "h264", "determinism"),
        verdict("pyav", "av1", "thread_cap"),
        verdict("pyav", "a.mp4", "determinism"),
        verdict("pyav", "b.mp4", "frame_identity"),
        verdict("ffmpeg", "h264", "frame_identity"),
        verdict("ffmpeg", "", "worker_exit"),
        verdict("another", "h264", "frame_identity"),
        verdict("other", "h264", "frame_identity"),
    ]
    assert in_order(reversed(wanted), settings) == wanted


def test_case_is_named_by_decoder_clip_and_check() -> None:
    assert str(Case("pyav", Path("/a/own.mp4"), "determinism")) == "pyav-own.mp4-determinism"
    assert str(Case("pyav", ClipSpec(codec="h264", gop=4), "determinism")) == "pyav-h264:gop=4-determinism"
