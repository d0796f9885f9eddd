"""--videodecode-clips and videodecode_clips: real files, and what is not one."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from inner_runs import InnerRuns

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.model import ClipSpec


@pytest.fixture
def good(clip_cache: ClipCache, inner: InnerRuns) -> Path:
    """A file that is a clip, in a folder of its own."""
    folder = inner.pytester.path / "videos"
    folder.mkdir()
    return Path(shutil.copy(clip_cache.clip(ClipSpec(codec="mpeg4")).path, folder / "good.mp4"))


def test_file_is_tested_beside_the_generated_clips(inner: InnerRuns, good: Path) -> None:
    ran = inner.suite(clips=str(good))

    assert [(v["clip"], v["status"]) for v in ran.verdicts] == [("mpeg4", "passed"), ("good.mp4", "passed")]
    assert (
        ran.verdicts[1]["replay"]
        == f"videodecode check rogue:well_behaved --checks determinism --clips {good} --codecs ''"
    )


def test_folder_gives_its_videos_by_name_and_no_other_file(inner: InnerRuns, good: Path) -> None:
    inner.file("videos/a.MKV")
    inner.file("videos/notes.txt")
    inner.file("videos/deeper/b.mp4")

    ran = inner.suite("--collect-only", "-q", codecs="", clips=str(good.parent))

    assert [line.partition("[")[2] for line in ran.result.outlines if "::" in line] == [
        "rogue:well_behaved-a.MKV-determinism]",
        "rogue:well_behaved-good.mp4-determinism]",
    ]


def test_ini_key_is_relative_to_its_file_and_flags_to_where_one_stands(
    inner: InnerRuns, good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner.pytester.makeini("[pytest]\nvideodecode_clips =\n    videos/good.mp4\n")
    monkeypatch.chdir(good.parent)

    assert inner.suite("--rootdir=..", "-c", "../tox.ini", codecs="").code == pytest.ExitCode.OK
    assert inner.suite("--rootdir=..", codecs="", clips="good.mp4").code == pytest.ExitCode.OK


def test_empty_flag_counts_against_the_ini_key(inner: InnerRuns, good: Path) -> None:
    inner.pytester.makeini("[pytest]\nvideodecode_clips = videos\n")

    assert [verdict["clip"] for verdict in inner.suite(clips="").verdicts] == ["mpeg4"]


NO_CLIPS = {
    "empty.mp4": "an empty file",
    "text.mp4": "not a video that FFmpeg can open",
    "folder.mp4": "a folder",
    "dangling.mp4": "no such file",
    "pipe.mp4": "not an ordinary file",
    "named.dat": "not a video that FFmpeg can open",
}


def test_each_file_that_is_no_video_is_one_line_and_costs_no_other_test(inner: InnerRuns, good: Path) -> None:
    folder = good.parent
    inner.file("videos/empty.mp4")
    inner.file("videos/text.mp4", "these are words\n" * 100)
    inner.file("named.dat", "these are words\n" * 100)
    (folder / "folder.mp4").mkdir()
    (folder / "dangling.mp4").symlink_to("nowhere.mp4")
    os.mkfifo(folder / "pipe.mp4")

    ran = inner.suite("--videodecode-clips=named.dat", codecs="", clips=str(folder))

    ran.result.assert_outcomes(passed=1, failed=len(NO_CLIPS))
    verdicts = {verdict["clip"]: verdict for verdict in ran.verdicts}
    assert verdicts.pop("good.mp4")["status"] == "passed"
    assert verdicts.keys() == NO_CLIPS.keys()
    for name, verdict in verdicts.items():
        assert verdict["status"] == "error"
        assert NO_CLIPS[name] in verdict["reason"]
        assert name in verdict["reason"]
        assert "\n" not in verdict["reason"]
        assert f"ERROR determinism of rogue:well_behaved on {name}: {verdict['reason']}" in ran.summary
    assert "Traceback" not in ran.out


def test_file_that_may_not_be_read_is_one_line(inner: InnerRuns, good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Path.open

    def refuse(path: Path, *arguments: Any, **settings: Any) -> Any:
        if path.name == good.name:
            raise PermissionError(13, "Permission denied")  # no mode keeps root out
        return opened(path, *arguments, **settings)

    monkeypatch.setattr(Path, "open", refuse)

    ran = inner.suite(clips=str(good))

    assert [verdict["status"] for verdict in ran.verdicts] == ["passed", "error"]
    assert "cannot be read (Permission denied); correct its permissions" in ran.verdicts[1]["reason"]


def test_name_that_is_no_text_does_no_harm(inner: InnerRuns, good: Path) -> None:
    shutil.copy(good, good.parent / os.fsdecode(b"\xff\n.mp4"))

    ran = inner.suite(codecs="", clips=str(good.parent))

    assert [verdict["status"] for verdict in ran.verdicts] == ["passed", "passed"]
    assert ran.verdicts[1]["clip"] == "\udcff\n.mp4"


def test_real_file_agrees_with_the_reference(inner: InnerRuns, real_clips: Path) -> None:
    ran = inner.suite(
        codecs="", clips=str(real_clips / "mpeg4-audio.avi"), decoder="production", checks="frame_identity"
    )

    assert (ran.verdict["clip"], ran.verdict["status"]) == ("mpeg4-audio.avi", "passed")
