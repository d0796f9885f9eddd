from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest

from pytest_videodecode.decoders.versions import loaded_versions, version_of


def test_only_libraries_that_are_loaded_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("av", "torch"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    versions = loaded_versions()
    assert versions["numpy"] == np.__version__
    assert not {"av", "torch", "libavcodec"} & set(versions)


def test_a_module_that_does_not_say_is_looked_up_by_its_name_on_the_index() -> None:
    import psutil

    silent = ModuleType("psutil")
    assert version_of(silent) == psutil.__version__
    assert version_of(ModuleType("no_such_distribution")) == "unknown"
