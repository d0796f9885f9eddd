"""--videodecode-checks and videodecode_checks."""

from __future__ import annotations

from inner_runs import InnerRuns, Ran

from pytest_videodecode.checks.catalogue import CHECKS

COLLECT = ("--collect-only", "-q")


def checks(ran: Ran) -> list[str]:
    return [line.removesuffix("]").rpartition("-")[2] for line in ran.result.outlines if "::test_check[" in line]


def test_checks_run_in_the_order_of_the_catalogue(inner: InnerRuns) -> None:
    assert checks(inner.suite(*COLLECT, checks="determinism,frame_identity")) == ["frame_identity", "determinism"]


def test_all_checks_are_the_default_and_what_empty_text_means(inner: InnerRuns) -> None:
    inner.pytester.makeini("[pytest]\nvideodecode_checks = determinism\n")

    assert checks(inner.suite(*COLLECT, checks="")) == list(CHECKS)
    assert checks(inner.suite(*COLLECT, checks=None)) == ["determinism"]
