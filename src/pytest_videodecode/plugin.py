"""The pytest plugin: its options, its fixtures, and the run that answers the other hooks.

Nothing heavy is imported here: a plugin that is installed and not used must cost nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from pytest_videodecode.errors import VideodecodeError
from pytest_videodecode.fixtures import (
    videodecode,
    videodecode_case,
    videodecode_clip,
    videodecode_corpus,
    videodecode_decoder,
)
from pytest_videodecode.options import OPTIONS, PREFIX
from pytest_videodecode.run import RUN, Run

__all__ = ["videodecode", "videodecode_case", "videodecode_clip", "videodecode_corpus", "videodecode_decoder"]

SUITE_FLAG = f"--{PREFIX}-suite"
SUITE = str(Path(__file__).with_name("suite"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """One group of flags, and an ini key for each but the suite's."""
    group = parser.getgroup(PREFIX, "video decoding")
    group.addoption(SUITE_FLAG, action="store_true", help="Run every check on every decoder named")
    for option in OPTIONS:
        group.addoption(
            option.flag,
            dest=option.ini,
            action="append" if option.repeatable else "store",
            default=None,  # an explicit 0 or empty text must count against the ini file
            metavar=option.metavar,
            help=option.help_text.replace("%", "%%"),
        )
        kind: Literal["linelist", "string"] = "linelist" if option.repeatable else "string"
        parser.addini(option.ini, option.help_text, type=kind, default=None)


def pytest_configure(config: pytest.Config) -> None:
    """Read the settings; a value that cannot be used ends the run with one line."""
    config.addinivalue_line(
        "markers",
        f"{PREFIX}(decoder=..., codecs=..., threads=..., timeout=...): settings of the {PREFIX} fixtures for one "
        "test, named as the command-line flags are",
    )
    if config.getoption(SUITE_FLAG) and SUITE not in config.args:
        config.args.append(SUITE)
    suite = any(arg.startswith(("pytest_videodecode.suite", SUITE)) for arg in config.args)
    if suite:  # the project's own pattern for its test files must not leave it out
        config.addinivalue_line("python_files", f"{SUITE}/test_*.py")
    try:
        run = Run(config, suite=suite)
    except VideodecodeError as error:
        raise pytest.UsageError(str(error)) from None
    config.stash[RUN] = run
    config.pluginmanager.register(run, f"{PREFIX}-run")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave no worker behind, however the run ended."""
    if run := config.stash.get(RUN, None):
        run.close()
