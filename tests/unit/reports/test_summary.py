from __future__ import annotations

from pytest_videodecode.model import Status, Verdict
from pytest_videodecode.reports.summary import describe, failures, headline, is_good, matrix, reasons, summary_lines


def verdict(
    check: str = "seek_parity",
    decoder: str = "pyav",
    clip: str = "av1",
    *,
    status: Status = Status.PASSED,
    reason: str = "",
    expected: str = "",
) -> Verdict:
    return Verdict(
        check=check,
        decoder=decoder,
        clip=clip,
        status=status,
        reason=reason,
        expected=expected,
        replay=f"videodecode check {decoder} --checks {check} --codecs {clip}",
    )


FAILED = verdict(status=Status.FAILED, reason="asked frame 3, got frame 4")
KNOWN = verdict(status=Status.FAILED, reason="asked frame 3, got frame 4", expected="its index is wrong")
ERROR = verdict(status=Status.ERROR, reason="no such file")
UNSUPPORTED = verdict(status=Status.UNSUPPORTED, reason="no encoder")


def test_headline_counts_every_status_that_occurs() -> None:
    assert headline([], 0) == "0 verdicts: none (seed 0)"
    assert headline([verdict()], 3) == "1 verdict: 1 passed (seed 3)"
    counted = headline([verdict(), FAILED, KNOWN, ERROR, UNSUPPORTED], 0)
    assert counted == "5 verdicts: 1 passed, 2 failed, 1 unsupported, 1 error, 1 of them as expected (seed 0)"


def test_good_is_what_passed_or_was_expected() -> None:
    assert [is_good(each) for each in (verdict(), FAILED, KNOWN, ERROR, UNSUPPORTED)] == [
        True,
        False,
        True,
        False,
        False,
    ]


def test_matrix_counts_good_ones_among_those_that_could_be_made() -> None:
    verdicts = [verdict(), verdict(clip="h264"), FAILED, UNSUPPORTED, verdict(check="thread_cap"), KNOWN]
    assert list(matrix(verdicts)) == [
        "      seek_parity  thread_cap",
        "pyav   3/4 FAILED         1/1",
    ]


def test_matrix_leaves_a_cell_empty_and_says_unsupported_where_nothing_could_be_made() -> None:
    verdicts = [
        verdict(),
        verdict("thread_cap", "production"),
        verdict("seek_parity", "ffmpeg", status=Status.UNSUPPORTED),
    ]
    assert list(matrix(verdicts)) == [
        "            seek_parity  thread_cap",
        "pyav                1/1            ",
        "production                      1/1",
        "ffmpeg      unsupported            ",
    ]


def test_columns_stand_in_the_order_given_and_others_behind() -> None:
    verdicts = [verdict("worker_exit"), verdict("own"), verdict("b"), verdict("a")]
    columns, _ = matrix(verdicts, ["a", "never", "b"])
    assert columns.split() == ["a", "b", "worker_exit", "own"]


def test_no_verdicts_make_no_matrix() -> None:
    assert list(matrix([])) == []


def test_verdict_is_described_with_its_replay_and_without_a_clip_where_it_has_none() -> None:
    assert list(describe(FAILED)) == [
        "FAILED seek_parity of pyav on av1: asked frame 3, got frame 4",
        "  again: videodecode check pyav --checks seek_parity --codecs av1",
    ]
    exit_ = Verdict(check="worker_exit", decoder="pyav", clip="", status=Status.FAILED, reason="hang")
    assert list(describe(exit_)) == ["FAILED worker_exit of pyav: hang"]


def test_failures_are_those_that_were_not_expected() -> None:
    lines = list(failures([verdict(), FAILED, KNOWN, UNSUPPORTED, ERROR]))
    assert [line for line in lines if line[:1] not in ("", " ")] == [
        "FAILED seek_parity of pyav on av1: asked frame 3, got frame 4",
        "ERROR seek_parity of pyav on av1: no such file",
    ]


def test_reasons_are_grouped_and_counted() -> None:
    unsupported = [verdict(clip=name, status=Status.UNSUPPORTED, reason="no encoder") for name in "abcdef"]
    assert list(reasons([*unsupported, KNOWN, verdict()])) == [
        "",
        "6 x unsupported: seek_parity of pyav: no encoder (a, b, c, d and 2 more)",
        "1 x as expected: its index is wrong (seek_parity on av1)",
    ]
    assert list(reasons([verdict(), FAILED])) == []


def test_summary_is_headline_matrix_failures_reasons() -> None:
    lines = list(summary_lines([FAILED, UNSUPPORTED], 5, ["seek_parity"]))
    assert lines[0] == headline([FAILED, UNSUPPORTED], 5)
    assert lines[1:3] == list(matrix([FAILED, UNSUPPORTED]))
    assert lines[3:6] == ["", *describe(FAILED)]
    assert lines[6:] == ["", "1 x unsupported: seek_parity of pyav: no encoder (av1)"]
