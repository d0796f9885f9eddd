"""What the command line may say, and what is wrong with it before anything starts."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MODES = ("single", "sarm")
SOURCES = ("hub", "bucket", "warmed_bucket", "local")


@dataclass(frozen=True, kw_only=True, slots=True)
class RunSettings:
    """One benchmark as asked. ``source`` is a label only; what is read is what ``root`` and ``repo_id`` name."""

    dataset: str
    repo_id: str | None
    root: str | None
    revision: str | None
    data_files_root: str | None
    mode: str
    source: str
    batch_size: int
    num_workers: int
    num_batches: int
    warmup_batches: int
    buffer_size: int
    video_decoder_cache_size: int
    prefetch_factor: int
    video_decode_device: str
    device: str
    out_dir: str
    seed: int
    consumer_step_ms: float
    batch_timeout_s: float
    start_method: str | None
    progress: bool


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """The options of a run, named as the specification names them."""
    what = parser.add_argument_group("what is read")
    what.add_argument("--repo_id", help="Data set on the Hub, OWNER/NAME")
    what.add_argument("--root", help="Folder or fsspec URL of the data set")
    what.add_argument("--revision", help="Branch, tag or commit on the Hub")
    what.add_argument("--data_files_root", help="Where the files lie, such as hf://buckets/OWNER/NAME")
    what.add_argument("--source", choices=SOURCES, help="Label of the source (default: local with --root, else hub)")
    what.add_argument(
        "--dataset",
        default="production",
        metavar="SPEC",
        help="Loader under test: production, lerobot, standin (LeRobot's algorithm), or module:Class",
    )
    how = parser.add_argument_group("how it is read")
    how.add_argument("--mode", choices=MODES, default="single", help="One frame, or 8 frames 1 s apart, per camera")
    how.add_argument("--batch_size", type=whole(1), default=64, metavar="N")
    how.add_argument("--num_workers", type=whole(0), default=4, metavar="N", help="0 reads in the main process")
    how.add_argument("--num_batches", type=whole(1), default=200, metavar="N", help="Batches measured")
    how.add_argument("--warmup_batches", type=whole(0), default=5, metavar="N", help="Batches before these")
    how.add_argument("--buffer_size", type=whole(1), default=1000, metavar="N", help="Samples in the shuffle buffer")
    how.add_argument("--video_decoder_cache_size", type=whole(1), default=16, metavar="N", help="Open clips a worker")
    how.add_argument("--prefetch_factor", type=whole(1), default=2, metavar="N", help="Batches ahead, per worker")
    how.add_argument("--video_decode_device", choices=("cpu", "cuda"), default="cpu")
    how.add_argument("--device", type=device, default="cpu", help="Where batches are moved to: cpu, cuda, cuda:N")
    how.add_argument("--seed", type=whole(0), default=42, metavar="N")
    how.add_argument("--consumer_step_ms", type=milliseconds, default=0.0, metavar="MS", help="Training step imitated")
    how.add_argument(
        "--batch_timeout_s", type=seconds, default=600.0, metavar="S", help="A batch later than this ends it"
    )
    how.add_argument("--start_method", choices=("fork", "spawn", "forkserver"), help="Of workers (spawn with cuda)")
    out = parser.add_argument_group("what comes of it")
    out.add_argument("--out_dir", default="results", metavar="DIR", help="Where the result files are written")
    out.add_argument("--no_progress", action="store_true", help="No progress bar")


def settings(given: argparse.Namespace, error: Callable[[str], Any]) -> RunSettings:
    """``given`` as settings; ``error`` is called with one line for what cannot be."""
    if not given.repo_id and not given.root:
        error("nothing to read: give --repo_id OWNER/NAME, or --root with a folder or URL")
    cuda = given.video_decode_device == "cuda" and given.num_workers > 0
    if cuda and given.start_method == "fork":
        error("--start_method fork: CUDA cannot be used in forked workers; leave it out, or give spawn")
    values = {name: getattr(given, name) for name in RunSettings.__dataclass_fields__ if hasattr(given, name)}
    values["source"] = given.source or ("local" if given.root else "hub")
    values["start_method"] = given.start_method or ("spawn" if cuda else None)
    values["out_dir"] = str(Path(given.out_dir))
    return RunSettings(**values, progress=not given.no_progress)


def whole(least: int) -> Callable[[str], int]:
    """A reader of whole numbers from ``least``."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit()) or len(text) > 9 or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {least}")
        return int(text)

    return read


def seconds(text: str) -> float:
    """Above 0, at most a day."""
    return _number(text, 86400, "seconds above 0, at most 86400", above=True)


def milliseconds(text: str) -> float:
    """From 0, at most an hour."""
    return _number(text, 3_600_000, "milliseconds from 0 to 3600000", above=False)


def _number(text: str, most: float, form: str, *, above: bool) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= most or (above and not value):
        raise argparse.ArgumentTypeError(f"{text!r}: give {form}")
    return value


def device(text: str) -> str:
    """``cpu``, ``cuda`` or ``cuda:N``."""
    kind, colon, number = text.partition(":")
    if text != "cpu" and not (kind == "cuda" and (not colon or (number.isascii() and number.isdigit()))):
        raise argparse.ArgumentTypeError(f"{text!r} is no device; give cpu, cuda or cuda:N")
    return text


def parse_run(argv: Sequence[str], parser: argparse.ArgumentParser) -> RunSettings:
    """The settings of a run; a fault ends the process with status 2 and one line, as argparse does."""
    add_run_options(parser)
    return settings(parser.parse_args(argv), parser.error)
