"""Every check of the production reader on every real file; what is known to differ is in fixtures/expected.toml."""

from __future__ import annotations

from pathlib import Path

import pytest
from real_files import ABSENT, REAL

from pytest_videodecode.checks.catalogue import CHECKS
from pytest_videodecode.fixtures import VideoDecode
from pytest_videodecode.options import Settings
from pytest_videodecode.selection import sources


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if not REAL.is_dir():
        metafunc.parametrize("path", [pytest.param(REAL, marks=pytest.mark.skip(reason=ABSENT), id="absent")])
        return
    files = [source for source in sources(Settings(codecs=(), clips=(str(REAL),))) if isinstance(source, Path)]
    metafunc.parametrize("path", files, ids=[file.name for file in files])


@pytest.mark.parametrize("check", CHECKS)
def test_production_on_a_real_file(videodecode: VideoDecode, path: Path, check: str) -> None:
    videodecode.assert_check(check, path, "production")
