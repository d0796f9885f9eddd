from __future__ import annotations

from pathlib import Path

import pytest
from measured import MACHINE, measured

from pytest_videodecode.errors import OptionError
from pytest_videodecode.measurement import Regression
from pytest_videodecode.model import Status, Verdict
from pytest_videodecode.reports.job_summary import escaped, job_summary, write_job_summary
from pytest_videodecode.reports.throughput import Throughput


def verdict(status: Status = Status.PASSED, **fields: str) -> Verdict:
    return Verdict(**{"check": "seek_parity", "decoder": "pyav", "clip": "h264", "status": status, **fields})  # type: ignore[arg-type]


def test_verdicts_are_a_table_and_failures_a_list() -> None:
    text = job_summary([verdict(), verdict(Status.FAILED, clip="av1", reason="frame 3", replay="videodecode x")], 0)
    assert "2 verdicts: 1 passed, 1 failed (seed 0)" in text
    assert "| decoder | seek\\_parity |\n| --- | --- |\n| pyav | ❌ 1/2 |" in text
    assert "* **seek\\_parity of pyav on av1**: frame 3<br>videodecode x" in text


def test_what_was_expected_is_no_failure_and_what_is_unsupported_no_pass() -> None:
    text = job_summary([verdict(Status.FAILED, expected="known"), verdict(Status.UNSUPPORTED, check="thread_cap")], 0)
    assert "| pyav | ✅ 1/1 | unsupported |" in text
    assert "* **" not in text


def test_throughput_is_a_table_and_its_faults_come_first() -> None:
    regression = Regression(metric="cpu_per_sample", decoder="pyav", codec="av1", before=1.0, now=2.0, limit=1.2)
    report = Throughput(
        machine=MACHINE, measurements=(measured(),), regressions=(regression,), gates=("4 figures",), notes=("other",)
    )
    text = job_summary((), 0, report)
    assert "| production | av1 | 100.0 | 1800 | 20.0 |" in text
    assert (
        text.index("* ❌ cpu\\_per\\_sample of pyav") < text.index("* gate: 4 figures") < text.index("* note: other")
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("a|b\n| c", "a\\|b \\| c"),
        ("![x](http://example.org) `rm`", "!\\[x\\](http://example.org) \\`rm\\`"),
        ("# not a title", "\\# not a title"),
        ("1. no list", "1\\. no list"),
        ("- no list", "\\- no list"),
        ("a &amp; b_c", "a &amp;amp; b\\_c"),
        ("x" * 600, "x" * 500 + "…"),
    ],
)
def test_text_of_others_is_shown_as_it_is(text: str, shown: str) -> None:
    assert escaped(text) == shown


def test_names_and_reasons_of_others_are_escaped_wherever_they_stand() -> None:
    evil = "<img src=x>|\n# evil"
    report = Throughput(
        machine=MACHINE,
        measurements=(measured(decoder=evil, codec=evil, sample=evil, lost=(evil,)),),
        notes=(evil,),
        gates=(evil,),
        unsupported=(evil,),
        failed=(evil,),
    )
    text = job_summary(
        [verdict(Status.FAILED, check=evil, decoder=evil, clip=evil, reason=evil, replay=evil)], 0, report
    )
    assert "<img" not in text
    assert not any(line.startswith("# evil") for line in text.splitlines())
    assert "|\\|" not in text.replace("\\|", "")


def test_many_failures_do_not_make_a_page_that_is_refused() -> None:
    text = job_summary([verdict(Status.FAILED, clip=str(n), reason="x" * 5000) for n in range(5000)], 0)
    assert "* and 4950 more" in text
    assert len(text.encode()) < 1 << 20


def test_page_of_the_job_is_added_to_and_the_folder_s_file_replaced(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n", encoding="utf-8")
    for text in ("one\n", "two\n"):
        write_job_summary(text, tmp_path / "out", str(page))
    assert page.read_text(encoding="utf-8") == "before\none\ntwo\n"
    assert (tmp_path / "out" / "summary.md").read_text(encoding="utf-8") == "two\n"


def test_page_that_cannot_be_written_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"cannot add to the summary of the job, .*: Is a directory"):
        write_job_summary("text", None, str(tmp_path))
