from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from interrupted import interrupt

import pytest_videodecode
from pytest_videodecode import cli
from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.clips.catalogue import CATALOGUE
from pytest_videodecode.errors import Unsupported
from pytest_videodecode.model import Clip, ClipSpec
from pytest_videodecode.selection import ClipSource
from pytest_videodecode.session import Session

COMMAND = [sys.executable, "-m", "pytest_videodecode"]
SMALL = ["--codecs", "mpeg4", "--checks", "frame_identity"]


@pytest.fixture(autouse=True)
def _folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])  # which `check` puts the current folder on


@pytest.fixture
def file(clip_cache: ClipCache, tmp_path: Path) -> Path:
    """A real file in the current folder."""
    return Path(shutil.copy(clip_cache.clip(ClipSpec(codec="mpeg4")).path, tmp_path / "own.mp4"))


def refused(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    """The one line of a command that cannot be done."""
    assert cli.main(command) == 2
    out, err = capsys.readouterr()
    (line,) = err.splitlines()
    assert line.startswith("videodecode: ")
    assert out == ""
    return line.removeprefix("videodecode: ")


def test_version_is_the_package_s(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"{pytest_videodecode.__version__}\n"


@pytest.mark.parametrize("command", [[], ["nope"], ["check", "--nope"], ["clip", "--out"]])
def test_command_that_is_none_is_refused(capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(command)
    assert ended.value.code == 2
    assert "usage: videodecode" in capsys.readouterr().err


def test_check_says_each_verdict_as_it_comes_and_then_the_summary(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["check", "pyav", "production", *SMALL]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] + line.split()[-1:] for line in lines[:2]] == [
        ["[1/2]", "passed", "pyav-mpeg4-frame_identity"],
        ["[2/2]", "passed", "production-mpeg4-frame_identity"],
    ]
    assert lines[2:4] == ["", "2 verdicts: 2 passed (seed 0)"]
    assert [line.split() for line in lines[4:]] == [["frame_identity"], ["pyav", "1/1"], ["production", "1/1"]]


def test_production_is_checked_where_no_decoder_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["check", *SMALL]) == 0
    assert "production-mpeg4-frame_identity" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["rogue:too_few", *SMALL], 1),
        (["rogue:no_such_function", *SMALL], 1),
        (["rogue:well_behaved", "--codecs", "mpeg4", "--checks", "thread_parity"], 0),
        (["rogue:well_behaved", "--codecs", "mpeg4", "--checks", "thread_parity", "--require", "all"], 1),
        (["rogue:waits_for_ever", *SMALL, "--timeout", "0.3"], 1),
        (["rogue:too_few", *SMALL, "--expected", "known.toml"], 0),
        (["pyav", *SMALL, "--expected", "known.toml"], 1),
    ],
    ids=["failed", "error", "unsupported", "required", "hang", "expected", "vanished"],
)
def test_status_is_1_for_what_does_not_hold(tmp_path: Path, arguments: list[str], status: int) -> None:
    entry = '[[expected]]\nclip = "*"\ncheck = "*"\nstatus = "failed"\nreason = "known"\n'
    (tmp_path / "known.toml").write_text(entry, encoding="utf-8")
    assert cli.main(["check", *arguments]) == status


def test_check_finds_a_function_of_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "mylab.py").write_text(
        "import numpy\ndef decode(path, indices): return numpy.zeros((len(indices), 8, 8, 3), 'uint8')\n",
        encoding="utf-8",
    )
    command = [*COMMAND, "check", "mylab:decode", "--codecs", "mpeg4", "--checks", "determinism"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_check_writes_the_report(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert cli.main(["check", "rogue:nothing", *SMALL, "--report", "out", "--seed", "7"]) == 1
    report = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert report["seed"] == 7
    assert [verdict["status"] for verdict in report["verdicts"]] == ["failed"]
    assert capsys.readouterr().out.splitlines()[-1] == "report: out/results.json"


def test_report_that_cannot_be_written_is_said_behind_the_summary(
    capsys: pytest.CaptureFixture[str], file: Path
) -> None:
    assert cli.main(["check", "rogue:nothing", *SMALL, "--report", f"{file.name}/out"]) == 2
    out, err = capsys.readouterr()
    assert "1 verdict: 1 failed (seed 0)" in out
    assert err == (
        "videodecode: cannot write the report own.mp4/out/results.json: Not a directory; give a folder to write in\n"
    )


def test_check_takes_real_files(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    assert cli.main(["check", "pyav", "--codecs", "", "--clips", file.name, "--checks", "frame_identity"]) == 0
    assert "pyav-own.mp4-frame_identity" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nosuch"], "SPEC: decoder 'nosuch' is unknown"),
        (["two words"], "SPEC: decoder 'two words': "),
        ([""], "SPEC: give at least one decoder"),
        (["--codecs", "nope"], "--codecs: unknown codec 'nope'; known are av1"),
        (["--codecs", ""], "no clip is named; give codecs"),
        (["--checks", "nope"], "--checks: there is no check 'nope'; choose from frame_identity"),
        (["--threads", "many"], "--threads: 'many' is no thread count; give whole numbers from 0"),
        (["--timeout", "-1"], "--timeout: '-1' is no limit; give seconds above 0"),
        (["--memory", "1"], "--memory: '1' is no limit; give MiB from 64"),
        (["--clips", "nowhere"], "--clips: there is no nowhere; give a folder of video files, or a file"),
        (["--clips", "."], "--clips: no video files in .; endings known are .264"),
        (["--expected", "none.toml"], "--expected: there is no file none.toml; give a TOML file"),
        (["--require", "nope"], "--require: 'nope' is nothing in this run; choose from all"),
        (["--seed", "x"], "--seed: 'x' is no seed; give a whole number"),
        (["--threads-env", "1x"], "--threads-env: '1x' is no name of an environment variable; give one"),
    ],
    ids=lambda value: None if isinstance(value, str) else " ".join(value),
)
def test_check_refuses_in_one_line(capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    assert refused(capsys, "check", *arguments).startswith(said)


def test_clip_without_a_name_lists_the_catalogue_by_recipe(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["clip"]) == 0
    listed = dict(line.split() for line in capsys.readouterr().out.splitlines())
    assert {name: ClipSpec.parse(recipe) for name, recipe in listed.items()} == CATALOGUE


def test_clip_makes_codecs_recipes_and_named_clips(capsys: pytest.CaptureFixture[str], clip_cache: ClipCache) -> None:
    assert cli.main(["clip", "mpeg4", "mpeg4:frames=12:gop=4", "mpeg4-bframes-avi"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[0] for line in lines[::3]] == [
        "mpeg4",
        "mpeg4:frames=12:gop=4",
        "mpeg4:container=avi:bframes=2",
    ]
    assert lines[3] == f"mpeg4:frames=12:gop=4: {clip_cache.clip(ClipSpec.parse('mpeg4:frames=12:gop=4')).path}"
    assert lines[4].endswith("192x128, 12 frames, 0 to 0.366667 s")
    assert lines[5] == "  keyframes 0, 4, 8"


def test_clip_tells_the_truth_about_a_file(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    assert cli.main(["clip", file.name]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"own.mp4: {file}"
    assert lines[1].startswith("  mpeg4 in mov")
    assert lines[1].endswith("192x128, 48 frames, 0 to 1.56667 s")


def test_clip_copies_to_a_folder_under_names_that_ffmpeg_opens(
    capsys: pytest.CaptureFixture[str], file: Path, tmp_path: Path
) -> None:
    assert cli.main(["clip", "mpeg4:frames=12:gop=4", file.name, "--out", "new/folder"]) == 0
    assert sorted(path.name for path in (tmp_path / "new/folder").iterdir()) == [
        "mpeg4_frames=12_gop=4.mp4",
        "own.mp4",
    ]
    assert "mpeg4:frames=12:gop=4: new/folder/mpeg4_frames=12_gop=4.mp4\n" in capsys.readouterr().out
    assert (tmp_path / "new/folder/own.mp4").read_bytes() == file.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nope"], "'nope' is no clip; give a file, a codec (av1, "),
        (["no/such.mp4"], "no/such.mp4: no such file can be found"),
        (["h264:bframe=2"], "clip 'h264:bframe=2': unknown field 'bframe'; known are codec, "),
        (["h264:bframes"], "clip 'h264:bframes': 'bframes' is not field=value"),
        (["vhs:gop=2"], "'vhs:gop=2' is no clip"),
        (["."], ".: a folder; give a video file"),
        (["x" * 5000], "'xxxx"),
        (["mpeg4:frames=0"], "clip mpeg4:frames=0: 0 frames are not possible; give 1 to "),
        (["mpeg4", "--out", "own.mp4/out"], "--out: cannot copy to own.mp4/out/mpeg4.mp4: Not a directory; give"),
        (["own.mp4", "--out", "."], "--out: cannot copy to own.mp4: "),
    ],
    ids=lambda value: None if isinstance(value, str) else " ".join(value)[:40],
)
def test_clip_refuses_in_one_line(
    capsys: pytest.CaptureFixture[str], file: Path, arguments: list[str], said: str
) -> None:
    assert refused(capsys, "clip", *arguments).startswith(said)


def test_doctor_finds_this_machine_healthy(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    found = {line.split(maxsplit=1)[1].partition(":")[0]: line.split()[0] for line in lines}
    assert {found[f"codec {codec}"] for codec in ("av1", "h264", "mpeg4")} == {"ok"}
    assert {found[f"decoder {name}"] for name in ("production", "pyav")} == {"ok"}
    assert {"python", "packages", "ffmpeg libraries", "ffmpeg command line", "census"} <= found.keys()


def test_doctor_tells_what_is_missing_from_what_is_absent(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    make = Session.clip

    def clip(session: Session, source: ClipSource) -> Clip:
        if isinstance(source, ClipSpec) and source.codec in ("mpeg4", "vp9"):
            raise Unsupported(f"no encoder for {source.codec}; install one")
        return make(session, source)

    monkeypatch.setattr(Session, "clip", clip)
    assert cli.main(["doctor"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "MISSING  codec mpeg4: no encoder for mpeg4; install one" in lines
    assert "absent   codec vp9: no encoder for vp9; install one" in lines


def test_reader_of_the_output_may_leave_early() -> None:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    with subprocess.Popen(
        [*COMMAND, "clip"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (1, b"")


def test_terminal_without_unicode_gets_escapes(file: Path) -> None:
    shutil.copy(file, "caf\N{LATIN SMALL LETTER E WITH ACUTE}.mp4")
    done = subprocess.run(
        [*COMMAND, "clip", "caf\N{LATIN SMALL LETTER E WITH ACUTE}.mp4"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"caf\\xe9.mp4: ")


def test_ctrl_c_ends_a_hanging_check_and_every_process(tmp_path: Path) -> None:
    came = interrupt([*COMMAND, "check", "rogue:leaves_grandchildren", *SMALL, "--timeout", "600"], tmp_path)
    assert (came.status, came.err) == (130, "videodecode: stopped\n")
    assert (came.grandchildren, came.survivors) == (3, [])
    assert list(tmp_path.iterdir()) == []
