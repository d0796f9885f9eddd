"""``videodecode``: the same checks from a shell, clips to look at, and what this machine can do."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from pytest_videodecode import __version__
from pytest_videodecode.errors import VideodecodeError
from pytest_videodecode.options import OPTIONS, Settings


def main(argv: Sequence[str] | None = None) -> int:
    """Exit status: 0 when all holds, 1 when something does not, 2 for a command that cannot be understood."""
    arguments = _parser().parse_args(argv)
    try:
        status: int = arguments.command(arguments)
    except VideodecodeError as error:
        print(f"videodecode: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of our output has seen enough
        sys.stderr.close()
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

    doctor = commands.add_parser("doctor", help="Say what this machine can make, decode and measure")
    doctor.set_defaults(command=_doctor)
    return parser


def _check(arguments: argparse.Namespace) -> int:
    from pytest_videodecode.environment import environment
    from pytest_videodecode.reports.results import results, write_results
    from pytest_videodecode.reports.summary import is_good, summary_lines
    from pytest_videodecode.session import Session, cases, validate

    given = {name: value for name, value in vars(arguments).items() if value not in (None, []) and name != "command"}
    settings = Settings().with_texts(given, lambda name: name if name == "decoder" else f"--{name.replace('_', '-')}")
    validate(settings)
    sys.path.insert(0, "")  # as `python -m` does: the user's module is the one in the current folder
    planned = cases(settings)
    verdicts = []
    with Session(settings, Path.cwd()) as session:
        for number, case in enumerate(planned, 1):
            start = time.monotonic()
            verdict = session.check(case.check, case.decoder, case.source)
            verdicts.append(verdict)
            status = "as expected" if verdict.expected else verdict.status
            took = time.monotonic() - start
            print(f"[{number}/{len(planned)}] {status:<11} {took:5.1f} s  {case}", flush=True)
        verdicts += session.close()
    print()
    for line in summary_lines(verdicts, settings.seed):
        print(line)
    if settings.report:
        print(f"report: {write_results(Path(settings.report), results(verdicts, environment(), settings.seed))}")
    return 0 if all(is_good(verdict) or verdict.status == "unsupported" for verdict in verdicts) else 1


def _clip(arguments: argparse.Namespace) -> int:
    from pytest_videodecode.clips.catalogue import CATALOGUE
    from pytest_videodecode.model import ClipSpec
    from pytest_videodecode.session import Session

    if not arguments.clip:
        for name, spec in CATALOGUE.items():
            print(f"{name:<24} {spec.name}")
        return 0
    folder = Path(arguments.out) if arguments.out else None
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
    with Session() as session:
        for text in arguments.clip:
            source = Path(text) if Path(text).exists() else CATALOGUE.get(text) or ClipSpec.parse(text)
            clip = session.clip(source)
            path = Path(clip.path)
            if folder:
                path = Path(shutil.copy(path, folder / f"{clip.name.replace('/', '_')}{path.suffix}"))
            print(f"{clip.name}: {path}")
            print(f"  {clip.codec} in {clip.container}, {clip.width}x{clip.height}, {clip.frames} frames", end="")
            print(f", {float(clip.times[0]):g} to {float(clip.times[-1]):g} s" if clip.times else "", end="")
            print("" if clip.intact else ", damaged")
            print(f"  keyframes {', '.join(map(str, clip.keyframes[:16]))}{' …' if len(clip.keyframes) > 16 else ''}")
    return 0


def _doctor(arguments: argparse.Namespace) -> int:
    from pytest_videodecode.doctor import examine

    del arguments
    healthy = True
    for finding in examine():
        healthy &= finding.good or not finding.needed
        mark = "ok" if finding.good else ("MISSING" if finding.needed else "absent")
        print(f"{mark:<8} {finding.what}: {finding.said}")
    return 0 if healthy else 1
