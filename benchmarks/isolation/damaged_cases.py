"""Damaged cases per second, four ways to run them, interleaved: in this process, in a warm worker, one fork per
case, one fresh interpreter per case.

The cases are the same for all: scattered flips and cuts of H.264 clips, decoded by plain PyAV with slice threads, so
that no way hangs. Prints the median rate of each way and its ratio to the worker's. Usage:
``python benchmarks/isolation/damaged_cases.py [--rounds 5] [--cases 40]``
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from pytest_videodecode.damage.damage import Damage, write_damaged
from pytest_videodecode.damage.operators import Scatter, Truncate
from pytest_videodecode.decoders import registry
from pytest_videodecode.decoders.base import LoadedDecoder
from pytest_videodecode.decoders.spec import parse
from pytest_videodecode.jsonform import loads, to_json
from pytest_videodecode.model import ClipSpec, DecodeRequest
from pytest_videodecode.session import Session

DECODER = "pyav"


@functools.cache
def loaded() -> LoadedDecoder:
    """The decoder, loaded once in a process."""
    return registry.load(parse(DECODER))


def decode_here(request: DecodeRequest) -> None:
    """The case in this process, with the product that a worker gives: one array. An error is an answer."""
    try:
        np.stack(list(loaded().decode(request)))
    except Exception:
        return


def decode_forked(request: DecodeRequest) -> None:
    """The case in a forked child. PyAV has decoded nothing with threads in this process before the fork."""
    if (child := os.fork()) == 0:
        decode_here(request)
        os._exit(0)
    os.waitpid(child, 0)


def decode_fresh(request: DecodeRequest) -> None:
    """The case in an interpreter of its own."""
    subprocess.run([sys.executable, __file__, "--one"], input=json.dumps(to_json(request)), text=True, check=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        decode_here(loads(DecodeRequest, sys.stdin.read()))
        return
    with tempfile.TemporaryDirectory() as folder, Session() as session:
        requests = damaged_requests(session, Path(folder), arguments.cases)
        session.decode(DECODER, requests[0])
        ways: dict[str, Callable[[DecodeRequest], object]] = {
            "worker": lambda request: session.decode(DECODER, request),
            "in-process": decode_here,
            "fork per case": decode_forked,
            "fresh interpreter": decode_fresh,
        }
        rates: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(arguments.rounds):
            for name, decode in ways.items():
                few = requests if name != "fresh interpreter" else requests[:: max(1, len(requests) // 8)]
                start = time.perf_counter()
                for request in few:
                    decode(request)
                rates[name].append(len(few) / (time.perf_counter() - start))
    for name, values in rates.items():
        ratios = [worker / other for worker, other in zip(rates["worker"], values, strict=True)]
        print(
            f"{name:<18} {statistics.median(values):7.1f} cases/s, worker is {statistics.median(ratios):5.2f} x that"
        )


def damaged_requests(session: Session, folder: Path, count: int) -> Sequence[DecodeRequest]:
    """One request per damaged file."""
    clip = session.clip(ClipSpec(codec="h264", width=256, height=256))
    damages = [
        Damage((Scatter(count=200, seed=seed, region="media") if seed % 3 else Truncate(keep_fraction=0.6),))
        for seed in range(count)
    ]
    return [
        DecodeRequest(path=str(write_damaged(clip, damage, folder)), indices=tuple(range(seed % 16, seed % 16 + 9)))
        for seed, damage in enumerate(damages)
    ]


if __name__ == "__main__":
    main()
