"""Readers of training windows side by side: the median request, its CPU, and whether the pixels are the same.

Usage: ``python benchmarks/decode/benchmark_decode.py --quick``; README.md beside this file says what is measured.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.decode import length, plot, tables
from benchmarks.decode.cells import PATTERNS, QUALITY, Cell, bytes_per_frame, clips, requests
from benchmarks.decode.options import list_of, one_of, positive, seconds, size
from benchmarks.decode.peers import PEERS, STANDARD
from benchmarks.decode.timing import UNTIMED, Peers, measure
from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.errors import VideodecodeError
from pytest_videodecode.reports.files import write_whole

#: What is measured where nothing else is said. A cell ends after ``seconds`` even if rounds are left.
FULL: Mapping[str, Any] = {
    "codecs": list(QUALITY),
    "gops": [2, 8, 250],
    "sizes": [(256, 256), (640, 480), (1280, 720)],
    "threads": [1, 2],
    "rounds": 40,
    "seconds": 20.0,
}
QUICK: Mapping[str, Any] = {
    "codecs": list(QUALITY),
    "gops": [2],
    "sizes": [(256, 256)],
    "threads": [1],
    "rounds": 10,
    "seconds": 1.5,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write. Returns the exit status."""
    given = _given(arguments)
    cache = ClipCache()
    try:
        if given.length:
            with tempfile.TemporaryDirectory() as folder:
                for line in length.lines(cache, Path(folder), given.peers, given.rounds, given.lengths):
                    print(line, flush=True)
            return 0
        results = _measured(given, cache)
        for line in tables.summary(results):
            print(line)
        if given.out:
            _write(results, given.out)
    except VideodecodeError as error:
        print(f"benchmark_decode: {error}", file=sys.stderr)
        return 1
    return 0


def _measured(given: argparse.Namespace, cache: ClipCache) -> list[tables.Result]:
    results: list[tables.Result] = []
    groups = itertools.product(given.codecs, given.gops, given.sizes, given.threads)
    with Peers(given.peers, cache.root) as peers:
        for codec, gop, (width, height), threads in groups:
            members = []
            for pattern in given.patterns:
                cell = Cell(codec=codec, gop=gop, width=width, height=height, pattern=pattern, threads=threads)
                paths = clips(cache, cell)
                asked = requests(PATTERNS[pattern], paths, UNTIMED + given.rounds)
                members.append(
                    tables.Result(cell, bytes_per_frame(paths[0]), measure(cell, peers, asked, given.seconds))
                )
            for line in tables.table(members):
                print(line, flush=True)
            results += members
    return results


def _write(results: Sequence[tables.Result], folder: Path) -> None:
    print(f"wrote {write_whole(folder / 'decode.json', json.dumps(tables.report(results), indent=1))}")
    try:
        print(f"wrote {plot.draw(results, folder / 'decode.png')}")
    except ImportError:
        print("no plot: matplotlib is not installed (pip install matplotlib)")


def _given(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="A small choice of cells, in under two minutes")
    parser.add_argument("--length", action="store_true", help="Only what the length of a clip costs")
    parser.add_argument("--lengths", type=list_of(positive), default=[10, 600], metavar="S,S", help="In seconds")
    parser.add_argument("--codecs", type=list_of(one_of(QUALITY)), metavar="LIST", help="Of " + ",".join(QUALITY))
    parser.add_argument("--gops", type=list_of(positive), metavar="LIST", help="Distances of keyframes, in frames")
    parser.add_argument("--sizes", type=list_of(size), metavar="LIST", help="Such as 256x256,640x480")
    parser.add_argument("--threads", type=list_of(positive), metavar="LIST", help="Threads of each decoder")
    parser.add_argument(
        "--patterns",
        type=list_of(one_of(PATTERNS)),
        default=list(PATTERNS),
        metavar="LIST",
        help="Of " + ",".join(PATTERNS),
    )
    parser.add_argument("--peers", type=list_of(one_of(PEERS)), metavar="LIST", help="Of " + ",".join(PEERS))
    parser.add_argument("--rounds", type=positive, metavar="N", help="Timed requests of a cell, at most")
    parser.add_argument("--seconds", type=seconds, metavar="S", help="Time for a cell, a few rounds aside")
    parser.add_argument("--out", type=Path, metavar="DIR", help="Write decode.json and decode.png there")
    given = parser.parse_args(arguments)
    if len(given.lengths) != 2 or given.lengths[0] > given.lengths[1] or given.lengths[0] < 3:
        parser.error("argument --lengths: give a shorter and a longer one, from 3 s on, such as 10,600")
    given.peers = given.peers or list(length.NAMES if given.length else STANDARD)
    for name, value in (QUICK if given.quick else FULL).items():
        if getattr(given, name) is None:
            setattr(given, name, value)
    return given


if __name__ == "__main__":
    sys.exit(main())
