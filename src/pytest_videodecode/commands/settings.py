"""The settings as flags of a subcommand: the same names, the same help, the same errors everywhere."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping

from pytest_videodecode.options import BY_NAME, Settings


def add_settings(
    parser: argparse.ArgumentParser, names: Iterable[str], helps: Mapping[str, str] | None = None
) -> None:
    """A flag for each of the settings ``names``; ``helps`` has other words for some."""
    for name in names:
        option = BY_NAME[name]
        parser.add_argument(
            flag(name),
            action="append" if option.repeatable else "store",
            metavar=option.metavar,
            help=(helps or {}).get(name, option.help_text).replace("%", "%%"),
        )


def flag(name: str) -> str:
    """``--threads-env``"""
    return f"--{name.replace('_', '-')}"


def read_settings(arguments: argparse.Namespace, names: Iterable[str]) -> Settings:
    """The settings that the flags of ``names``, and a decoder where the command takes one, leave.

    From here on, modules of the current folder are found, as ``python -m`` finds them.

    Raises:
        OptionError: for a value that cannot be used, or a name that means nothing.
    """
    from pytest_videodecode.selection import validate

    texts = {name: getattr(arguments, name, None) for name in (*names, "decoder")}
    given = {name: text for name, text in texts.items() if text not in (None, [])}
    said_by = {name: "SPEC" if name == "decoder" else flag(name) for name in given}
    settings = Settings().with_texts(given, said_by.__getitem__)
    validate(settings, said_by)
    sys.path.insert(0, "")
    return settings
