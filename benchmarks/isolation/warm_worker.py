"""What isolation costs: the same request in this process and through a warm worker, interleaved.

Prints the median of the paired ratios and its bootstrap interval, for the production reader on windows of 9 of 33
frames and on single frames. Usage: ``python benchmarks/isolation/warm_worker.py [--pairs 300]``
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable, Sequence

from pytest_videodecode.decoders import registry
from pytest_videodecode.decoders.spec import parse
from pytest_videodecode.model import ClipSpec, DecodeRequest
from pytest_videodecode.session import Session


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--decoder", default="production")
    arguments = parser.parse_args()
    here = registry.load(parse(arguments.decoder))
    rng = random.Random(0)
    with Session() as session:
        for size, quality in ((256, None), (640, None)):
            clip = session.clip(ClipSpec(width=size, height=size, frames=128, gop=2, quality=quality))
            for name, step, count in (("window", 4, 9), ("single", 1, 1)):
                inside, outside = [], []
                for _ in range(arguments.pairs):
                    start = rng.randrange(clip.frames - step * count)
                    request = DecodeRequest(path=clip.path, indices=tuple(range(start, start + step * count, step)))
                    inside.append(timed(here.decode, request))
                    outside.append(timed(lambda asked: session.decode(arguments.decoder, asked), request))
                ratios = [b / a for a, b in zip(inside, outside, strict=True)]
                low, high = interval(ratios, rng)
                print(
                    f"{size}x{size} {name:<7} in-process {statistics.median(inside) * 1e3:6.2f} ms, "
                    f"worker {statistics.median(outside) * 1e3:6.2f} ms, "
                    f"ratio {statistics.median(ratios):.3f} [{low:.3f}, {high:.3f}]"
                )


def timed(decode: Callable[[DecodeRequest], object], request: DecodeRequest) -> float:
    """Wall seconds of one call."""
    start = time.perf_counter()
    decode(request)
    return time.perf_counter() - start


def interval(values: Sequence[float], rng: random.Random) -> tuple[float, float]:
    """A 95 % bootstrap interval of the median."""
    medians = sorted(statistics.median(rng.choices(values, k=len(values))) for _ in range(500))
    return medians[12], medians[-13]


if __name__ == "__main__":
    main()
