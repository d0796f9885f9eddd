from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_videodecode.checks import base
from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.decoders.spec import DecoderSpec
from pytest_videodecode.errors import ClipError, DecoderSpecError, OptionError, Unsupported
from pytest_videodecode.isolation.pool import Workers
from pytest_videodecode.model import ClipSpec, DecodeRequest, DecoderInfo, OutcomeKind, Status
from pytest_videodecode.options import Settings
from pytest_videodecode.session import Session

MPEG4 = ClipSpec(codec="mpeg4")


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with Session(Settings(), tmp_path) as session:
        yield session


def test_check_ends_in_a_verdict_under_the_names_that_were_asked(session: Session) -> None:
    found = session.check("frame_identity", "production,threads=1", MPEG4)
    assert (found.check, found.decoder, found.clip) == ("frame_identity", "production,threads=1", "mpeg4")
    assert (found.status, found.reason) == (Status.PASSED, "")
    assert found.evidence["requests"] > 1


def test_clip_is_taken_as_recipe_file_or_clip(session: Session, clip_cache: ClipCache) -> None:
    clip = clip_cache.clip(MPEG4)
    for given in (MPEG4, Path(clip.path), clip, clip_cache.real(Path(clip.path))):
        assert session.check("determinism", "pyav", given).status is Status.PASSED


@pytest.mark.parametrize(
    ("error", "status"), [(Unsupported("no encoder"), "unsupported"), (ClipError("no\n video"), "error")]
)
def test_clip_that_cannot_be_had_is_a_verdict(
    session: Session, monkeypatch: pytest.MonkeyPatch, error: Exception, status: str
) -> None:
    def refuse(cache: ClipCache, spec: ClipSpec) -> None:
        raise error

    monkeypatch.setattr(ClipCache, "clip", refuse)
    found = session.check("determinism", "pyav", MPEG4)
    assert (found.clip, found.status, found.reason) == ("mpeg4", status, " ".join(str(error).split()))


def test_fault_of_a_check_is_an_error_with_its_traceback(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: Any) -> None:
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setattr(base, "run", broken)
    found = session.check("determinism", "pyav", MPEG4)
    assert (found.status, found.reason) == (Status.ERROR, "ZeroDivisionError: division by zero; please report it")
    assert "in broken" in found.evidence["traceback"]


def test_unknown_check_is_an_option_error(session: Session) -> None:
    with pytest.raises(OptionError, match="there is no check 'nope'"):
        session.check("nope", "pyav", MPEG4)


@pytest.mark.parametrize(
    ("require", "status"),
    [((), "unsupported"), (("h264",), "unsupported"), (("mpeg4",), "failed"), (("all",), "failed")],
)
def test_required_verdict_must_not_be_unsupported(session: Session, require: tuple[str, ...], status: str) -> None:
    session.settings = Settings(require=require)
    found = session.check("thread_parity", "rogue:well_behaved", ClipSpec(codec="mpeg4", gop=4, frames=12))
    assert found.status == status
    assert found.reason.startswith("required, but unsupported: ") is (status == "failed")


def test_verdict_that_is_expected_to_be_unsupported_may_be_required(tmp_path: Path) -> None:
    entry = '[[expected]]\nclip = "mpeg4"\ncheck = "*"\nstatus = "unsupported"\nreason = "it has no thread count"\n'
    (tmp_path / "known.toml").write_text(entry, encoding="utf-8")
    with Session(Settings(require=("all",), expected=str(tmp_path / "known.toml"))) as session:
        found = session.check("thread_parity", "rogue:well_behaved", MPEG4)
    assert (found.status, found.expected) == (Status.UNSUPPORTED, "it has no thread count")


def test_replay_names_what_differs_from_the_defaults(session: Session, clip_cache: ClipCache) -> None:
    def replay(given: Any) -> list[str]:
        return shlex.split(session.check("thread_parity", "rogue:nothing", given).replay)

    start = ["videodecode", "check", "rogue:nothing", "--checks", "thread_parity"]
    clip = clip_cache.clip(MPEG4)
    assert replay(MPEG4) == replay(clip) == [*start, "--codecs", "mpeg4"]
    assert (
        replay(Path(clip.path))
        == replay(clip_cache.real(Path(clip.path)))
        == [
            *start,
            "--clips",
            clip.path,
            "--codecs",
            "",
        ]
    )
    session.settings = Settings(threads=(0,), threads_env="N", seed=7, timeout=0.5, memory=100)
    options = replay(MPEG4)[7:]
    assert dict(zip(options[::2], options[1::2], strict=True)) == {
        "--threads": "0",
        "--threads-env": "N",
        "--seed": "7",
        "--timeout": "0.5",
        "--memory": "100",
    }


def test_decoder_that_cannot_be_loaded_is_tried_once(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def refuse(workers: Workers, spec: DecoderSpec) -> DecoderInfo:
        tried.append(str(spec))
        raise DecoderSpecError("no such thing")

    monkeypatch.setattr(Workers, "info", refuse)
    for ask in (
        session.info,
        session.info,
        lambda name: session.decode(name, DecodeRequest(path="any", indices=(0,))),
    ):
        with pytest.raises(DecoderSpecError, match="no such thing"):
            ask("mylab:decode")
    assert session.check("determinism", "mylab:decode", MPEG4).reason == "no such thing"
    assert tried == ["mylab:decode"]


def test_environment_variable_of_the_settings_is_for_functions_that_have_none_of_their_own(session: Session) -> None:
    session.settings = Settings(threads_env="N")
    assert session.spec("mylab:decode").options == {"threads_env": "N"}
    assert session.spec("mylab:decode,threads_env=M").options == {"threads_env": "M"}
    assert session.spec("production").options == {}


def test_limit_of_the_settings_holds_for_a_decode(session: Session) -> None:
    session.settings = Settings(timeout=0.3)
    outcome = session.decode("rogue:waits_for_ever", DecodeRequest(path="any", indices=(0,)))
    assert outcome.kind is OutcomeKind.HANG
    assert outcome.hang
    assert outcome.hang.limit_s == 0.3


def test_journal_lies_in_the_folder_and_is_gone_when_all_ended_well(tmp_path: Path) -> None:
    with Session(Settings(), tmp_path) as session:
        session.info("rogue:well_behaved")
        assert len(list((tmp_path / ".videodecode" / "journal").iterdir())) == 1
    assert list(tmp_path.iterdir()) == []


def test_session_that_was_not_used_has_nothing_to_end(tmp_path: Path) -> None:
    assert Session(Settings(), tmp_path).close() == []
    assert list(tmp_path.iterdir()) == []


def test_worker_that_does_not_end_is_a_verdict_under_the_name_of_its_decoder(session: Session) -> None:
    session.settings = Settings(threads_env="N")
    session.decode("rogue:hangs_at_exit", DecodeRequest(path="any", indices=(0,)))
    (found,) = session.close()
    assert (found.check, found.decoder, found.clip) == ("worker_exit", "rogue:hangs_at_exit", "")
    assert found.status is Status.FAILED
    assert found.reason.startswith("its worker did not end by itself: hang ")
    assert found.evidence["limit_s"] == 5.0
    assert found.replay == "videodecode check rogue:hangs_at_exit"
    assert session.close() == []
