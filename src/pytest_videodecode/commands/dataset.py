"""``videodecode dataset``: make synthetic data sets, and say what they hold."""

from __future__ import annotations

import argparse
from typing import Any

from pytest_videodecode.errors import OptionError


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser("dataset", help="Make synthetic LeRobot v3 data sets")
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    make = actions.add_parser(
        "make", help="Write a data set whose pictures say which episode, camera and frame they are"
    )
    make.add_argument("folder", metavar="FOLDER", help="Where it goes; new, or empty")
    make.add_argument(
        "--cameras", metavar="NAMES", default="front,wrist", help="Names with commas (default: %(default)s)"
    )
    make.add_argument("--episodes", metavar="N", type=int, default=4, help="Number of episodes (default: %(default)s)")
    make.add_argument(
        "--frames", metavar="N[,N…]", default="20", help="Frames of every episode, or of each (default: %(default)s)"
    )
    make.add_argument("--fps", metavar="N", type=int, default=20, help="Frames a second (default: %(default)s)")
    make.add_argument(
        "--codec", metavar="NAME", default="av1", help="av1, h264, hevc, mpeg4 or vp9 (default: %(default)s)"
    )
    make.add_argument(
        "--gop", metavar="N", type=int, default=2, help="Distance of keyframes in frames (default: %(default)s)"
    )
    make.add_argument(
        "--size", metavar="WxH", default="256x256", help="Size of a picture, 64x64 at least (default: %(default)s)"
    )
    make.add_argument("--quality", metavar="N", type=int, help="Of the codec's own scale (default: 30 for av1)")
    make.add_argument(
        "--episodes-per-file", metavar="N", type=int, default=2, help="Most episodes in one mp4 (default: %(default)s)"
    )
    make.add_argument(
        "--data-files", metavar="N", type=int, default=1, help="Number of data parquet files (default: %(default)s)"
    )
    make.add_argument("--seed", metavar="N", type=int, default=0, help="Of the textures (default: %(default)s)")
    make.add_argument("--plain", action="store_true", help="Grey pictures, quicker to encode and to decode")
    make.set_defaults(command=run)


def run(arguments: argparse.Namespace) -> int:
    """Exit status: 0."""
    from pytest_videodecode.datasets.make import make_dataset

    lengths = _numbers("--frames", arguments.frames, ",")
    size = _numbers("--size", arguments.size.lower(), "x")
    if len(size) != 2:
        raise OptionError(f"--size: {arguments.size[:40]!r} is no size; give width x height, such as 256x256")
    truth = make_dataset(
        arguments.folder,
        cameras=[name.strip() for name in arguments.cameras.split(",")],
        episodes=arguments.episodes,
        frames_per_episode=lengths[0] if len(lengths) == 1 else lengths,
        fps=arguments.fps,
        codec=arguments.codec,
        gop=arguments.gop,
        size=(size[0], size[1]),
        quality=arguments.quality,
        episodes_per_file=arguments.episodes_per_file,
        data_files=arguments.data_files,
        seed=arguments.seed,
        textured=not arguments.plain,
        reuse=False,
    )
    spec = truth.spec
    videos = len(spec.keys) * len(spec.video_groups)
    print(
        f"{truth.folder}: {len(spec.lengths)} episodes, {truth.frames} frames, {len(spec.keys)} cameras, {videos} mp4"
    )
    return 0


def _numbers(flag: str, text: str, separator: str) -> list[int]:
    parts = [part.strip() for part in text.split(separator)]
    example = "20" if separator == "," else "256x256"
    if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        raise OptionError(f"{flag}: {text[:40]!r} is not made of whole numbers; give such as {example}")
    return [int(part) for part in parts]
