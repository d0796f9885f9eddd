"""--videodecode-require and videodecode_require: what must not be unsupported."""

from __future__ import annotations

import pytest
from inner_runs import InnerRuns

#: A check that cannot be made of this decoder: its thread count cannot be set.
UNSUPPORTED = {"decoder": "rogue:well_behaved", "checks": "thread_parity"}


def test_unsupported_is_a_counted_skip(inner: InnerRuns) -> None:
    ran = inner.suite(**UNSUPPORTED)

    ran.result.assert_outcomes(skipped=1)
    assert ran.code == pytest.ExitCode.OK
    assert ran.verdict["status"] == "unsupported"
    assert ran.summary[0] == "1 verdict: 1 unsupported (seed 0)"
    assert ran.matrix == [["thread_parity"], ["rogue:well_behaved", "unsupported"]]
    assert ran.summary[-2].startswith("1 x unsupported: thread_parity of rogue:well_behaved: ")


@pytest.mark.parametrize("name", ["all", "thread_parity", "mpeg4", "rogue:well_behaved", "h264, all"])
def test_required_it_fails_with_the_same_reason(inner: InnerRuns, name: str) -> None:
    ran = inner.suite(**UNSUPPORTED, codecs="mpeg4,h264", require=name)

    assert ran.code == pytest.ExitCode.TESTS_FAILED
    verdict = ran.verdicts[0]
    assert verdict["status"] == "failed"
    assert verdict["reason"].startswith("required, but unsupported: ")
    assert "threads_env" in verdict["reason"]


def test_what_is_not_required_may_be_unsupported(inner: InnerRuns) -> None:
    ran = inner.suite(**UNSUPPORTED, codecs="mpeg4,h264", require="h264")

    assert [verdict["status"] for verdict in ran.verdicts] == ["unsupported", "failed"]


def test_flag_counts_against_the_ini_key(inner: InnerRuns) -> None:
    inner.pytester.makeini("[pytest]\nvideodecode_require =\n    all\n")

    assert inner.suite(**UNSUPPORTED).verdict["status"] == "failed"
    assert inner.suite(**UNSUPPORTED, require="").verdict["status"] == "unsupported"
