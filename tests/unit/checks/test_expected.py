from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_videodecode.checks.expected import Expected, compare, load_expected
from pytest_videodecode.errors import OptionError
from pytest_videodecode.model import Status, Verdict

ENTRY = Expected(
    clip="cut.*", check="seek_parity", decoder="opencv*", status=Status.FAILED, reason="its index is wrong"
)


FOUND = Verdict(
    check="seek_parity",
    decoder="opencv,threads=2",
    clip="cut.ts",
    status=Status.FAILED,
    reason="asked frame 17, got frame 18",
)


def test_expected_failure_is_marked_and_stays_a_failure() -> None:
    found = compare(FOUND, [ENTRY])
    assert (found.status, found.expected) == (Status.FAILED, "its index is wrong")
    assert found.reason == "asked frame 17, got frame 18"


@pytest.mark.parametrize("names", [{"check": "determinism"}, {"decoder": "pyav"}, {"clip": "whole.ts"}])
def test_verdict_that_no_entry_names_is_as_it_was(names: dict[str, Any]) -> None:
    before = replace(FOUND, **names)
    assert compare(before, [ENTRY]) == before


@pytest.mark.parametrize(
    ("status", "came"),
    [(Status.PASSED, "now it is passed; "), (Status.UNSUPPORTED, "now it is unsupported: no way; ")],
)
def test_other_status_than_expected_fails(status: Status, came: str) -> None:
    found = compare(replace(FOUND, status=status, reason="" if status is Status.PASSED else "no way"), [ENTRY])
    assert (found.status, found.expected) == (Status.FAILED, "")
    assert found.reason == (f"expected failed because its index is wrong; {came}bring the expected verdict up to date")


def test_reason_must_hold_what_is_to_match() -> None:
    frame = Expected(clip="*", check="*", status=Status.FAILED, reason="known", match="frame 17")
    assert compare(FOUND, [frame]).expected == "known"
    other = compare(replace(FOUND, reason="asked frame 3, got frame 4"), [frame])
    assert (other.status, other.expected) == (Status.FAILED, "")
    assert other.reason.startswith("expected failed (frame 17) because known; now it is failed: asked frame 3")


def test_first_entry_that_names_a_verdict_counts() -> None:
    wide = Expected(clip="*", check="*", status=Status.ERROR, reason="everything breaks")
    assert compare(FOUND, [ENTRY, wide]).expected == "its index is wrong"
    assert compare(FOUND, [wide, ENTRY]).status is Status.FAILED


def test_names_are_compared_letter_by_letter() -> None:
    assert not ENTRY.names(replace(FOUND, clip="CUT.ts"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "expected.toml"


def test_file_of_tables_is_read_in_order(file: Path) -> None:
    file.write_text(
        """
        [[expected]]
        clip = "cut.*"
        check = "seek_parity"
        decoder = "opencv*"
        status = "failed"
        reason = "its index is wrong"

        [[expected]]
        clip = "a.ts"
        check = "*"
        status = "unsupported"
        match = "no index"
        reason = "it has none"
        """,
        encoding="utf-8",
    )
    other = Expected(clip="a.ts", check="*", status=Status.UNSUPPORTED, match="no index", reason="it has none")
    assert load_expected(file) == (ENTRY, other)


@pytest.mark.parametrize("text", ["", "# nothing is known\n", "expected = []\n"])
def test_file_may_be_empty(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
    assert load_expected(file) == ()


TABLE = "[[expected]]\nclip = 'a'\ncheck = 'b'\nreason = 'c'\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[[expected]", "not TOML"),
        (b"\xff", "not TOML"),
        (b"a = " + b"[" * 20_000, "not TOML"),
        (b"# " + b"x" * (1 << 20), "more than 1048576 bytes of expected verdicts"),
        (b"[other]\n", "write expected verdicts as [[expected]] tables, and nothing else"),
        (b"expected = 3\n", "write expected verdicts as [[expected]] tables, and nothing else"),
        (b"expected = [3]\n", "expected[0]: expected dict, got int"),
        (TABLE.encode(), "expected[0]: field 'status' is missing"),
        (f"{TABLE}status = 'passed'\n".encode(), "status 'passed' needs no entry"),
        (f"{TABLE}status = 'fine'\n".encode(), "'fine' is none of passed, failed"),
        (f"{TABLE}status = 'failed'\nwhy = 'd'\n".encode(), "unknown field 'why'"),
        (f"{TABLE}status = 'failed'\n".replace("'c'", "' '").encode(), "reason is empty; say why"),
        (f"{TABLE}status = 'failed'\n{TABLE}status = 3\n".encode(), "expected[1].status: 3 is none of"),
    ],
    ids=range(13),
)
def test_bad_file_is_an_option_error_of_one_line_that_names_it(file: Path, content: bytes, said: str) -> None:
    file.write_bytes(content)
    with pytest.raises(OptionError) as caught:
        load_expected(file)
    assert str(caught.value).startswith(f"{file}: ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_file_that_cannot_be_read_is_an_option_error(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"cannot read the expected verdicts .*: Is a directory"):
        load_expected(tmp_path)
