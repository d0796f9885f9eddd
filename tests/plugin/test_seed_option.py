"""--videodecode-seed and videodecode_seed."""

from __future__ import annotations

import pytest
from inner_runs import InnerRuns

from pytest_videodecode import __version__


@pytest.mark.parametrize(
    ("ini", "flag", "seed"), [(None, None, 0), ("7", None, 7), ("7", "0", 0), ("7", "4294967295", 4294967295)]
)
def test_seed_is_printed_and_reported(inner: InnerRuns, ini: str | None, flag: str | None, seed: int) -> None:
    if ini is not None:
        inner.pytester.makeini(f"[pytest]\nvideodecode_seed = {ini}\n")

    ran = inner.suite(decoder="rogue:nothing", seed=flag)

    assert ran.report["seed"] == seed
    assert ran.summary[0] == f"1 verdict: 1 failed (seed {seed})"
    assert f"videodecode {__version__}: rogue:nothing on mpeg4 (seed {seed})" in ran.result.outlines
    assert ran.verdict["replay"].endswith(f"--seed {seed}") is (seed != 0)
