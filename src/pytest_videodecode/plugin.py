"""The pytest plugin: its options, its fixtures, and the run that answers the other hooks.

Nothing heavy is imported here: a plugin that is installed and not used must cost nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from pytest_videodecode.errors import OptionError, VideodecodeError
from pytest_videodecode.fixtures import (
    videodecode,
    videodecode_case,
    videodecode_clip,
    videodecode_corpus,
    videodecode_decoder,
    videodecode_loader,
)
from pytest_videodecode.options import OPTIONS, PREFIX
from pytest_videodecode.run import RUN, Run

__all__ = [
    "videodecode",
    "videodecode_case",
    "videodecode_clip",
    "videodecode_corpus",
    "videodecode_decoder",
    "videodecode_loader",
]

SUITE_FLAG = f"--{PREFIX}-suite"
THROUGHPUT_FLAG = f"--{PREFIX}-throughput"
UPDATE_FLAG = f"--{PREFIX}-update-baseline"
SUITE = str(Path(__file__).with_name("suite"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """One group of flags, and an ini key for each that is a setting; the others are what this one run is to do."""
    group = parser.getgroup(PREFIX, "video decoding")
    group.addoption(SUITE_FLAG, action="store_true", help="Run every check on every decoder named")
    group.addoption(
        THROUGHPUT_FLAG,
        action="store_true",
        help="Measure throughput before the first test; every process of xdist's -n takes a seat",
    )
    group.addoption(
        UPDATE_FLAG, action="store_true", help="Write what is measured into the baseline, and compare with nothing"
    )
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
    throughput = config.getoption(THROUGHPUT_FLAG)
    try:
        run = Run(config, suite=suite, in_use=suite or throughput)
        config.stash[RUN] = run
        config.pluginmanager.register(run, f"{PREFIX}-run")
        if throughput:
            from pytest_videodecode.throughput_run import hooks_for

            hooks = hooks_for(config, run, update=config.getoption(UPDATE_FLAG))
            config.pluginmanager.register(hooks, f"{PREFIX}-throughput")
        elif config.getoption(UPDATE_FLAG):
            raise OptionError(f"{UPDATE_FLAG}: nothing is measured to write; add {THROUGHPUT_FLAG}")
    except VideodecodeError as error:
        raise pytest.UsageError(str(error)) from None


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave no worker behind, however the run ended."""
    if run := config.stash.get(RUN, None):
        run.close()
