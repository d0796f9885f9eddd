"""``videodecode replay``: is a failure still there?"""

from __future__ import annotations

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_videodecode.errors import Unsupported
from pytest_videodecode.options import BY_NAME, Settings

if TYPE_CHECKING:
    from pytest_videodecode.failures.replay import Replayable
    from pytest_videodecode.model import Clip
    from pytest_videodecode.session import Session

#: The settings of a run that a replay has too.
_SETTINGS = ("corpus", "timeout", "memory", "threads_env", "allowed_errors")


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser("replay", help="Decode a failure again, and say whether it is fixed")
    parser.add_argument(
        "recipe", metavar="RECIPE", help="Id or folder of a failure, recipe file, or name of a corpus recipe"
    )
    parser.add_argument("--decoder", metavar="SPEC", help="Decoder to ask (default: the recipe's)")
    parser.add_argument("--clip", metavar="PATH", help="Real file that the recipe is for")
    for name in _SETTINGS:
        if name in BY_NAME:
            option = BY_NAME[name]
            parser.add_argument(
                f"--{name.replace('_', '-')}",
                action="append" if option.repeatable else "store",
                metavar=option.metavar,
                help=option.help_text.replace("%", "%%"),
            )
    parser.set_defaults(command=run)


def run(arguments: argparse.Namespace) -> int:
    """Exit status: 0 when it is fixed, 1 when it still fails."""
    from pytest_videodecode.damage.damage import write_damaged
    from pytest_videodecode.failures.replay import askable, find, replay
    from pytest_videodecode.session import Session

    given = {name: value for name in _SETTINGS if (value := getattr(arguments, name, None)) is not None}
    settings = Settings().with_texts(given, lambda name: f"--{name.replace('_', '-')}")
    sys.path.insert(0, "")  # as `python -m` does: the user's module is the one in the current folder
    found = find(arguments.recipe, Path.cwd(), map(Path, settings.corpus))
    recipe, decoder = found.recipe, arguments.decoder or found.recipe.decoder
    with Session(settings, Path.cwd()) as session, tempfile.TemporaryDirectory(prefix="videodecode-") as scratch:
        clip = _clip(found, session, arguments.clip)
        damaged = found.kept
        if damaged is None:
            if clip is None:
                raise Unsupported(f"the recipe is for {recipe.clip}, which is not here; name it by --clip PATH")
            damaged = write_damaged(clip, recipe.damage, Path(scratch), session.clips)
        info = session.info(decoder)
        ...
