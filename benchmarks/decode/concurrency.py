"""Many processes at once, as the loader workers of a training host: samples a second and what a sample costs.

Each process decodes the seed's sample, two cameras x nine frames of a 33-frame window, as fast as it can. Usage:
``python benchmarks/decode/concurrency.py [--processes 1,2,8,28,56]``; README.md beside this file says more.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.decode.cells import PATTERNS, Cell, clips, requests
from benchmarks.decode.options import list_of, one_of, positive, seconds
from benchmarks.decode.peer import Missing
from benchmarks.decode.peers import PEERS
from benchmarks.decode.seats import Seats, Together, median
from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.environment import environment
from pytest_videodecode.errors import VideodecodeError
from pytest_videodecode.jsonform import to_json
from pytest_videodecode.measure.machine import this_machine
from pytest_videodecode.reports.files import write_whole

#: The seed's reader as it was (a host of 160 cores gave every clip 160 threads), as it became, and with one thread.
DEFAULT_PEERS = ("production", "production-uncached", "seed-160", "seed", "seed-1", "torchcodec")
OURS, UNCAPPED = "production", "seed-160"

_SAMPLES = 16

Rounds = dict[tuple[int, str], list[Together]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write. Returns the exit status."""
    given = _given(arguments)
    cell = Cell(codec="av1", gop=2, width=256, height=256, pattern="window", threads=given.threads)
    try:
        cache = ClipCache()
        asked = requests(PATTERNS[cell.pattern], clips(cache, cell), _SAMPLES)
        print(f"{cell.name}: {given.repetitions} repetitions of {given.seconds:g} s, median", flush=True)
        rounds: Rounds = {}
        missing: dict[str, str] = {}
        with Seats(max(given.processes), cache.root) as seats:
            for repetition in range(given.repetitions):
                for count in given.processes:
                    turn = repetition % len(given.peers)
                    for name in given.peers[turn:] + given.peers[:turn]:
                        if name in missing:
                            continue
                        try:
                            found = seats.round(count, name, cell.threads, asked, given.seconds)
                        except Missing as reason:
                            missing[name] = str(reason)
                        else:
                            rounds.setdefault((count, name), []).append(found)
        medians = {key: median(each) for key, each in rounds.items()}
        for line in lines(medians, missing, given.processes, given.peers):
            print(line)
        if given.out:
            report = json.dumps(_report(cell, medians, missing), indent=1)
            print(f"wrote {write_whole(given.out / 'concurrency.json', report)}")
    except VideodecodeError as error:
        print(f"concurrency: {error}", file=sys.stderr)
        return 1
    return 0


def lines(
    medians: Mapping[tuple[int, str], Together],
    missing: Mapping[str, str],
    processes: Sequence[int],
    names: Sequence[str],
) -> Iterator[str]:
    """The table, and what is asked of the reader that ships."""
    yield f"{'processes':>9}  {'':<20}{'samples/s':>10}{'CPU ms':>9}{'switches':>10}{'threads':>9}  × {UNCAPPED}"
    for count in processes:
        for name in names:
            if (found := medians.get((count, name))) is None:
                continue
            uncapped = medians.get((count, UNCAPPED))
            ratio = f"{found.samples_per_s / uncapped.samples_per_s:10.2f}" if uncapped else f"{'-':>10}"
            yield (
                f"{count:>9}  {name:<20}{found.samples_per_s:10.1f}{found.cpu_s_per_sample * 1e3:9.1f}"
                f"{found.switches_per_sample:10.1f}{found.threads:9}{ratio}"
            )
    for name, reason in missing.items():
        yield f"missing {name}: {reason}"
    digests = {found.digest for found in medians.values()}
    yield f"pixels: {'the same everywhere' if len(digests) == 1 and None not in digests else 'NOT the same'}"
    most, few = max(processes), 2
    ours, at_two = medians.get((most, OURS)), medians.get((few, OURS))
    if ours and at_two and most > few:
        ratio = f"{ours.samples_per_s / at_two.samples_per_s:.2f}"
        yield f"{OURS}: samples/s of {most} processes / of {few}: {ratio} (wanted: 0.9)"
    if ours and (uncapped := medians.get((most, UNCAPPED))):
        yield f"{OURS} / {UNCAPPED} in {most} processes: {ours.samples_per_s / uncapped.samples_per_s:.2f} (wanted: 3)"


def _report(cell: Cell, medians: Mapping[tuple[int, str], Together], missing: Mapping[str, str]) -> dict[str, object]:
    return {
        "schema": "videodecode-decode-concurrency/1",
        "machine": to_json(this_machine()),
        "environment": environment(),
        "cell": asdict(cell),
        "rounds": [{"processes": count, "peer": name, **asdict(found)} for (count, name), found in medians.items()],
        "missing": dict(missing),
    }


def _given(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=list_of(positive), default=[1, 2, 8, 28, 56], metavar="LIST")
    parser.add_argument(
        "--peers",
        type=list_of(one_of(PEERS)),
        default=list(DEFAULT_PEERS),
        metavar="LIST",
        help="Of " + ",".join(PEERS),
    )
    parser.add_argument("--threads", type=positive, default=2, metavar="N", help="Of production and torchcodec")
    parser.add_argument("--repetitions", type=positive, default=3, metavar="N")
    parser.add_argument("--seconds", type=seconds, default=5.0, metavar="S", help="Of each round")
    parser.add_argument("--out", type=Path, metavar="DIR", help="Write concurrency.json there")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
