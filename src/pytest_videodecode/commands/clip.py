"""``videodecode clip``: make clips, and say what they are."""

from __future__ import annotations

import argparse
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_videodecode.errors import OptionError

if TYPE_CHECKING:
    from pytest_videodecode.model import Clip


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser("clip", help="Make clips, and say what they are")
    parser.add_argument(
        "clip", nargs="*", metavar="CLIP", help="Recipe such as av1 or h264:bframes=2:container=avi, or a file's path"
    )
    parser.add_argument("--out", metavar="DIR", help="Folder that the clips are copied to (default: none)")
    parser.set_defaults(command=run)


def run(arguments: argparse.Namespace) -> int:
    """Exit status: 0."""
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
