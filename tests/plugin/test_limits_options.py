"""--videodecode-timeout and --videodecode-memory."""

from __future__ import annotations

import pytest
from inner_runs import InnerRuns


def test_hang_is_a_failed_verdict_and_the_other_tests_run(inner: InnerRuns) -> None:
    ran = inner.suite("--videodecode-decoder=rogue:well_behaved", decoder="rogue:hangs_with_the_gil", timeout="0.5")

    ran.result.assert_outcomes(passed=1, failed=1)
    hang, good = ran.verdicts
    assert (hang["status"], good["status"]) == ("failed", "passed")
    assert "hang after 0.5 s, GIL held" in hang["reason"]
    assert hang["replay"].endswith("--timeout 0.5")


@pytest.mark.parametrize(("ini", "flag", "limit"), [(None, None, "20.0"), ("7.5", None, "7.5"), ("soon", "3", "3.0")])
def test_flag_counts_against_the_ini_key(inner: InnerRuns, ini: str | None, flag: str | None, limit: str) -> None:
    if ini is not None:
        inner.pytester.makeini(f"[pytest]\nvideodecode_timeout = {ini}\n")
    inner.pytester.makepyfile(
        test_own=f"def test_own(videodecode): assert videodecode._run.session.settings.timeout == {limit}"
    )

    inner.tests(*([] if flag is None else [f"--videodecode-timeout={flag}"])).result.assert_outcomes(passed=1)


@pytest.mark.parametrize("way", ["flag", "ini"])
def test_worker_over_its_memory_is_a_failed_verdict(inner: InnerRuns, way: str) -> None:
    inner.pytester.makeini("[pytest]\nvideodecode_memory = " + ("300" if way == "ini" else "100000") + "\n")

    ran = inner.suite(decoder="rogue:blows_up", memory="300" if way == "flag" else None)

    assert ran.verdict["status"] == "failed"
    assert "out of memory" in ran.verdict["reason"]
    assert "--memory 300" in ran.verdict["replay"]
