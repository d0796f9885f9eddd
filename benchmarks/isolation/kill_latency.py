"""How fast a hang ends: from the limit to the outcome, and from the outcome to the next answer.

The decoder deadlocks in native code with the GIL held and has started a process of its own. Usage:
``python benchmarks/isolation/kill_latency.py [--hangs 20] [--limit 1.0]``
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

import psutil

from pytest_videodecode.decoders.spec import parse
from pytest_videodecode.isolation.pool import Workers
from pytest_videodecode.model import DecodeRequest, OutcomeKind

DEADLOCK = """
import ctypes, subprocess, sys
import numpy as np

def decode(path, indices):
    if path == "hang":
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
        library, mutex = ctypes.PyDLL(None), ctypes.create_string_buffer(64)
        library.pthread_mutex_lock(mutex)
        library.pthread_mutex_lock(mutex)
    return np.zeros((len(indices), 8, 8, 3), np.uint8)
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hangs", type=int, default=20)
    parser.add_argument("--limit", type=float, default=1.0)
    arguments = parser.parse_args()
    late, next_answer = [], []
    with tempfile.TemporaryDirectory() as folder, Workers() as workers:
        Path(folder, "deadlock.py").write_text(DEADLOCK, encoding="utf-8")
        sys.path.insert(0, folder)
        spec = parse("deadlock:decode")
        workers.decode(spec, DecodeRequest(path="fine", indices=(0,)))
        for _ in range(arguments.hangs):
            start = time.perf_counter()
            outcome = workers.decode(spec, DecodeRequest(path="hang", indices=(0,)), limit_s=arguments.limit)
            ended = time.perf_counter()
            assert outcome.kind is OutcomeKind.HANG, outcome
            assert outcome.hang is not None
            assert outcome.hang.gil_held, outcome.hang
            left = [child for child in psutil.process_iter(["cmdline"]) if "time.sleep(600)" in str(child.info)]
            assert not [child for child in left if child.status() != psutil.STATUS_ZOMBIE], left
            again = time.perf_counter()
            workers.decode(spec, DecodeRequest(path="fine", indices=(0,)))
            next_answer.append(time.perf_counter() - again)
            late.append(ended - start - arguments.limit)
    for name, values in (("killed after its limit", late), ("next request served", next_answer)):
        print(f"{name:<24} median {statistics.median(values):.3f} s, most {max(values):.3f} s")


if __name__ == "__main__":
    main()
