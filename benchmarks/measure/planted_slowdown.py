"""Whether a planted slowdown of 10 % is called slower, and identical code no difference, with other work beside it.

Runs ``videodecode compare``'s comparison on the production reader against itself, and against the same that burns 10 %
more CPU time (``tests/support/slowed.py``), in turns; first on the machine as it is, then with a busy loop on each
core. Prints each verdict, then the score and the longest time. 20 runs of each take an hour.
Usage: ``python benchmarks/measure/planted_slowdown.py [--runs 20] [--load 0 2] [--processes 1] [--seconds 45]``
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pytest_videodecode.measure.compare import DEFAULT_SECONDS, compare_all
from pytest_videodecode.options import Settings

SUPPORT = Path(__file__).parents[2] / "tests" / "support"

WANTED = {"slowed:plain": "no difference", "slowed:slow10": "slower"}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--load", type=int, nargs="+", default=[0, os.cpu_count() or 1], help="busy loops beside it")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=DEFAULT_SECONDS)
    parser.add_argument("--codec", default="av1")
    arguments = parser.parse_args()
    sys.path.insert(0, str(SUPPORT))
    for loops in arguments.load:
        right, longest = Counter[str](), 0.0
        with busy(loops):
            for run in range(arguments.runs):
                for after, wanted in WANTED.items():
                    start = time.monotonic()
                    found = compare_all(
                        ("slowed:plain", after),
                        arguments.codec,
                        arguments.processes,
                        Settings(seed=run),
                        seconds=arguments.seconds,
                    )
                    took = time.monotonic() - start
                    (verdict,) = found.verdicts
                    right[after] += verdict.direction == wanted
                    longest = max(longest, took)
                    both = ", ".join(
                        f"{one.metric} x {one.ratio:.3f} [{one.low:.3f}, {one.high:.3f}] {one.direction}"
                        for one in found.by_metric
                    )
                    print(
                        f"load {loops}, run {run}, {after}: {verdict.direction} by {verdict.metric}, "
                        f"{verdict.pairs} pairs, {took:.0f} s ({both})",
                        flush=True,
                    )
        for after, wanted in WANTED.items():
            print(f"load {loops}: {after} called {wanted} in {right[after]} of {arguments.runs}", flush=True)
        print(f"load {loops}: longest comparison {longest:.1f} s", flush=True)


@contextmanager
def busy(loops: int) -> Iterator[None]:
    """So many processes that do nothing, all the time; they end with this one, however it ends."""
    loop = "import os, sys\nparent = os.getppid()\nwhile os.getppid() == parent:\n    sum(range(100_000))"
    processes = [subprocess.Popen([sys.executable, "-c", loop]) for _ in range(loops)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
