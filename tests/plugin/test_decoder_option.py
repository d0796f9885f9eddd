"""--videodecode-decoder and videodecode_decoder."""

from __future__ import annotations

import pytest
from inner_runs import InnerRuns


def decoders(ran_verdicts: list[dict[str, str]]) -> list[str]:
    return [verdict["decoder"] for verdict in ran_verdicts]


def test_flag_may_be_repeated(inner: InnerRuns) -> None:
    ran = inner.suite("--videodecode-decoder=production,threads=1", decoder="pyav", checks="frame_identity")

    assert decoders(ran.verdicts) == ["pyav", "production,threads=1"]
    assert ran.code == pytest.ExitCode.OK


def test_decoder_named_twice_is_tested_once(inner: InnerRuns) -> None:
    assert decoders(inner.suite("--videodecode-decoder=rogue:well_behaved").verdicts) == ["rogue:well_behaved"]


def test_ini_key_has_one_decoder_a_line(inner: InnerRuns) -> None:
    inner.pytester.makeini("[pytest]\nvideodecode_decoder =\n    rogue:nothing\n    production,threads=1\n")

    assert decoders(inner.suite(decoder=None).verdicts) == ["rogue:nothing", "production,threads=1"]


def test_flag_replaces_all_lines_of_the_ini_key(inner: InnerRuns) -> None:
    inner.pytester.makeini("[pytest]\nvideodecode_decoder =\n    rogue:nothing\n    rogue:too_few\n")

    assert decoders(inner.suite().verdicts) == ["rogue:well_behaved"]


def test_production_is_the_default(inner: InnerRuns) -> None:
    assert decoders(inner.suite(decoder=None).verdicts) == ["production"]


@pytest.mark.parametrize(
    ("decoder", "said"),
    [
        ("no_such_module:decode", "no module named 'no_such_module'"),
        ("rogue:no_such_function", "module rogue has no 'no_such_function'"),
        ("rogue:PIDS_ENV", "rogue:PIDS_ENV"),
        ("pyav,colour=red", "no option 'colour'"),
    ],
)
def test_decoder_that_cannot_be_loaded_costs_its_own_tests_only(inner: InnerRuns, decoder: str, said: str) -> None:
    ran = inner.suite(f"--videodecode-decoder={decoder}")

    ran.result.assert_outcomes(passed=1, failed=1)
    good, bad = ran.verdicts
    assert good["status"] == "passed"
    assert bad["status"] == "error"
    assert said in bad["reason"]
    assert "\n" not in bad["reason"]
    assert "Traceback" not in ran.out
