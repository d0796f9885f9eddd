"""``videodecode``: the same checks from a shell, clips to look at, and what this machine can do."""

from __future__ import annotations

import argparse
import io
import os
import re
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_videodecode import __version__
from pytest_videodecode.commands import corpus, fuzz, replay
from pytest_videodecode.errors import OptionError, VideodecodeError
from pytest_videodecode.options import OPTIONS, Settings

if TYPE_CHECKING:
    from pytest_videodecode.model import Clip


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

    check = commands.add_parser("check", help="Run every check on a decoder, and say what holds")
    check.add_argument(
        "decoder",
        nargs="*",
        metavar="SPEC",
        help="NAME[,option=value...][@PYTHON], NAME registered or module:function",
    )
    for option in OPTIONS:
        if option.name != "decoder":
            check.add_argument(
                f"--{option.name.replace('_', '-')}",
                action="append" if option.repeatable else "store",
                metavar=option.metavar,
                help=option.help_text.replace("%", "%%"),
            )
    check.set_defaults(command=_check)

    clip = commands.add_parser("clip", help="Make clips, and say what they are")
    clip.add_argument(
        "clip", nargs="*", metavar="CLIP", help="Recipe such as av1 or h264:bframes=2:container=avi, or a file's path"
    )
    clip.add_argument("--out", metavar="DIR", help="Folder that the clips are copied to (default: none)")
    clip.set_defaults(command=_clip)

    for module in (replay, corpus, fuzz):
        module.add_parser(commands)

    doctor = commands.add_parser("doctor", help="Say what this machine can make, decode and measure")
    doctor.set_defaults(command=_doctor)
    return parser


def _check(arguments: argparse.Namespace) -> int:
    from pytest_videodecode.environment import environment
    from pytest_videodecode.reports.results import results, write_results
    from pytest_videodecode.reports.summary import is_good, summary_lines
    from pytest_videodecode.selection import CHECK_NAMES, Case, CorpusCase, cases, corpus_cases, in_order, validate
    from pytest_videodecode.session import Session

    given = {name: value for name, value in vars(arguments).items() if value not in (None, []) and name != "command"}
    said_by = {name: "SPEC" if name == "decoder" else f"--{name.replace('_', '-')}" for name in given}
    settings = Settings().with_texts(given, said_by.__getitem__)
    validate(settings, said_by)
    sys.path.insert(0, "")  # as `python -m` does: the user's module is the one in the current folder
    planned: list[Case | CorpusCase] = [*cases(settings), *corpus_cases(settings)]
    verdicts = []
    with Session(settings, Path.cwd()) as session:
        for number, case in enumerate(planned, 1):
            start = time.monotonic()
            verdict = session.run(case)
            verdicts.append(verdict)
            status = "as expected" if verdict.expected else verdict.status
            took = time.monotonic() - start
            print(f"[{number}/{len(planned)}] {status:<11} {took:5.1f} s  {case}", flush=True)
        verdicts += session.close()
    print()
    for line in summary_lines(in_order(verdicts, settings), settings.seed, CHECK_NAMES):
        print(line)
    if settings.report:
        print(f"report: {write_results(Path(settings.report), results(verdicts, environment(), settings.seed))}")
    return 0 if all(is_good(verdict) or verdict.status == "unsupported" for verdict in verdicts) else 1


def _clip(arguments: argparse.Namespace) -> int:
    from pytest_videodecode.clips.catalogue import CATALOGUE
    from pytest_videodecode.selection import source
    from pytest_videodecode.session import Session

    if not arguments.clip:
        for name, spec in CATALOGUE.items():
            print(f"{name:<24} {spec.name}")
        return 0
    folder = Path(arguments.out) if arguments.out else None
    with Session() as session:
        for text in arguments.clip:
            clip = session.clip(source(text))
            path = _copy(clip, folder) if folder else Path(clip.path)
            print(f"{clip.name}: {path}")
            print(f"  {clip.codec} in {clip.container}, {clip.width}x{clip.height}, {clip.frames} frames", end="")
            print(f", {float(clip.times[0]):g} to {float(clip.times[-1]):g} s" if clip.times else "", end="")
            print("" if clip.intact else ", damaged")
            print(f"  keyframes {', '.join(map(str, clip.keyframes[:16]))}{' …' if len(clip.keyframes) > 16 else ''}")
    return 0


def _copy(clip: Clip, folder: Path) -> Path:
    path = Path(clip.path)
    # FFmpeg takes what stands before a colon for a protocol
    name = path.name if clip.spec is None else re.sub("[:/]", "_", clip.name) + path.suffix
    target = folder / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    except (OSError, shutil.SameFileError) as error:
        raise OptionError(f"--out: cannot copy to {target}: {error.strerror or error}; give another folder") from None
    return target


def _doctor(arguments: argparse.Namespace) -> int:
    from pytest_videodecode.doctor import examine

    del arguments
    healthy = True
    for finding in examine():
        healthy &= finding.good or not finding.needed
        mark = "ok" if finding.good else ("MISSING" if finding.needed else "absent")
        print(f"{mark:<8} {finding.what}: {finding.said}")
    return 0 if healthy else 1
