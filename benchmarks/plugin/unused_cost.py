"""What the plugin costs a run that does not use it: ``pytest --co -q`` on an empty folder, with and without, in turn.

Usage: ``python benchmarks/plugin/unused_cost.py [--pairs 40]``
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

WITH: tuple[str, ...] = ()
WITHOUT = ("-p", "no:videodecode")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=40)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        pairs = [(collect(folder, WITH), collect(folder, WITHOUT)) for _ in range(arguments.pairs + 1)][1:]
    differences = [(a - b) * 1e3 for a, b in pairs]
    print(f"with    median {statistics.median(a for a, _ in pairs) * 1e3:.1f} ms")
    print(f"without median {statistics.median(b for _, b in pairs) * 1e3:.1f} ms")
    print(f"difference of pairs, median {statistics.median(differences):.1f} ms")


def collect(folder: str, flags: tuple[str, ...]) -> float:
    """Wall seconds of one collection, all installed plugins loaded but for those named."""
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "pytest", "--co", "-q", *flags],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        check=False,
        # an installed package has its bytecode; a checkout, where writing it is forbidden, would be compiled each time
        env={name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
    )
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
