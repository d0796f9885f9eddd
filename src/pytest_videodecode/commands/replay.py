"""``videodecode replay``: is a failure still there?"""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_videodecode.commands.settings import add_settings, read_settings
from pytest_videodecode.errors import VideodecodeError

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
    add_settings(parser, _SETTINGS)
    parser.set_defaults(command=run)


def run(arguments: argparse.Namespace) -> int:
    """Exit status: 0 when it is fixed, 1 when it still fails."""
    from pytest_videodecode.checks.base import ALLOWED_ERRORS
    from pytest_videodecode.failures.replay import askable, find, replay
    from pytest_videodecode.session import Session

    settings = read_settings(arguments, _SETTINGS)
    found = find(arguments.recipe, Path.cwd(), map(Path, settings.corpus))
    recipe, decoder = found.recipe, arguments.decoder or found.recipe.decoder
    with Session(settings, Path.cwd()) as session:
        clip, damaged = _clip_and_file(found, session, arguments.clip)
        request = askable(recipe.request, clip, session.info(decoder))
        limit_s = found.limit_s if arguments.timeout is None else None
        now = replay(
            replace(recipe, request=request),
            clip,
            damaged,
            partial(session.decode, decoder),
            limit_s=limit_s,
            allowed=settings.allowed_errors or ALLOWED_ERRORS,
        )
    print(f"{recipe.id}: {recipe.clip} with {recipe.damage}; {request}")
    print(f"then ({recipe.decoder}): {found.then or 'not written down'}")
    print(f"now  ({decoder}): {now.fault or now.outcome}")
    print("STILL FAILS" if now.fault else "FIXED")
    return 1 if now.fault else 0


def _clip_and_file(found: Replayable, session: Session, given: str | None) -> tuple[Clip | None, Path]:
    """The recipe's clip, and the damaged file: the one that was kept, or one made now.

    The clip is None where only the damaged file is here, which is enough to decode that again.

    Raises:
        VideodecodeError: the clip is needed and is not here, or another one is; the damage does not fit it.
    """
    from pytest_videodecode.damage.damage import write_damaged
    from pytest_videodecode.failures.corpus import clip_for

    real = {found.recipe.clip: Path(given)} if given else {}
    try:
        clip = clip_for(found.recipe, found.path, session.clips, real)
    except VideodecodeError:
        if found.kept is None or given:
            raise
        return None, found.kept
    return clip, found.kept or write_damaged(clip, found.recipe.damage, session.scratch, session.clips)
