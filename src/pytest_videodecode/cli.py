"""``videodecode``: the same checks from a shell; each subcommand is a module of ``commands``."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence

from pytest_videodecode import __version__
from pytest_videodecode.commands import check, clip, compare, corpus, dataset, doctor, fuzz, replay, throughput, tune
from pytest_videodecode.errors import VideodecodeError


def main(argv: Sequence[str] | None = None) -> int:
    """Exit status: 0 when all holds, 1 when something does not, 2 for a command that cannot be done, 130 on Ctrl-C."""
    arguments = _parser().parse_args(argv)
    for stream in (sys.stdout, sys.stderr):  # names of files and words of libraries need not fit the terminal
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        status: int = arguments.command(arguments)
        sys.stdout.flush()
    except VideodecodeError as error:
        print(f"videodecode: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of our output has seen enough; the interpreter's last flush must not complain
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print("videodecode: stopped", file=sys.stderr)
        return 130
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="videodecode", description="Test the function that decodes your video.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for module in (check, clip, dataset, throughput, compare, tune, fuzz, replay, corpus, doctor):
        module.add_parser(commands)
    return parser
