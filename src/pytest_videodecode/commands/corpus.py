"""``videodecode corpus``: the recipes that every run replays."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from pytest_videodecode.commands.settings import add_settings, read_settings
from pytest_videodecode.errors import VideodecodeError

#: Where recipes are added, from the top of a checkout.
FOLDER = Path("fixtures") / "corpus"


def add_parser(subparsers: Any) -> None:
    """Add the command and its own two."""
    parser = subparsers.add_parser("corpus", help="List the recipes that every run replays, or add a failure")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    listed = commands.add_parser("list", help="Say what recipes there are")
    add_settings(listed, ["corpus"])
    listed.set_defaults(command=run_list)
    add = commands.add_parser("add", help="Copy the recipe of a failure, and its clip if it is generated and small")
    add.add_argument("failure", metavar="FAILURE", help="Id or folder of a failure, or a recipe file")
    add.add_argument("--to", metavar="DIR", default=str(FOLDER), help=f"The corpus (default: {FOLDER})")
    add.add_argument("--name", metavar="NAME", default="", help="Name of the recipe (default: codec and id)")
    add.add_argument("--note", metavar="TEXT", default="", help="What is special about it")
    add.add_argument("--clip", metavar="PATH", help="Real file that the recipe is for")
    add.set_defaults(command=run_add)


def run_list(arguments: argparse.Namespace) -> int:
    """Exit status: 1 when one cannot be read."""
    from pytest_videodecode.damage.recipe import read_recipe
    from pytest_videodecode.failures.corpus import recipes

    settings = read_settings(arguments, ["corpus"])
    status = 0
    for path in recipes(map(Path, settings.corpus)):
        try:
            recipe = read_recipe(path)
        except VideodecodeError as error:
            print(f"videodecode: {error}", file=sys.stderr)
            status = 1
            continue
        print(f"{path.stem}: {recipe.clip} with {recipe.damage}; {recipe.request}")
        if recipe.note:
            print(f"  {recipe.note}")
    return status


def run_add(arguments: argparse.Namespace) -> int:
    """Exit status: 0."""
    from pytest_videodecode.failures.corpus import add, clip_for
    from pytest_videodecode.failures.replay import find
    from pytest_videodecode.session import Session

    found = find(arguments.failure, Path.cwd())
    with Session() as session:
        real = {found.recipe.clip: Path(arguments.clip)} if arguments.clip else {}
        clip = clip_for(found.recipe, found.path, session.clips, real)
        print(add(found.recipe, clip, Path(arguments.to), arguments.name, arguments.note))
    return 0
