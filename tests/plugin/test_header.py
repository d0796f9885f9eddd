"""One line in the header, when the plugin is in use."""

from __future__ import annotations

import pytest
from inner_runs import InnerRuns

from pytest_videodecode import __version__


def headers(inner: InnerRuns, *arguments: str) -> list[str]:
    return [line for line in inner.tests(*arguments).result.outlines if line.startswith("videodecode ")]


@pytest.mark.parametrize("ini", ["", "videodecode_threads = 1\nvideodecode_report = out\n"])
def test_unused_it_says_nothing(inner: InnerRuns, ini: str) -> None:
    inner.pytester.makeini(f"[pytest]\n{ini}")
    inner.pytester.makepyfile(test_own="def test_own(): pass")

    assert headers(inner) == []


def test_a_flag_puts_it_in_use(inner: InnerRuns) -> None:
    flags = ("--videodecode-codecs=mpeg4:gop=4,h264", "--videodecode-seed=5", "--videodecode-decoder=pyav,threads=2")

    assert headers(inner, *flags) == [f"videodecode {__version__}: pyav,threads=2 on mpeg4:gop=4, h264 (seed 5)"]


@pytest.mark.parametrize("suite", [("--videodecode-suite",), ("--pyargs", "pytest_videodecode.suite")])
def test_the_suite_puts_it_in_use(inner: InnerRuns, suite: tuple[str, ...]) -> None:
    assert headers(inner, *suite, "--collect-only") == [
        f"videodecode {__version__}: production on av1, h264, mpeg4 (seed 0)"
    ]
