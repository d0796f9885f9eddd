"""How often a verdict is right, by simulation: where the defaults of ``measure.statistics.Rule`` come from.

Rounds are drawn as they were seen on two cores with a busy loop on each and other work beside them: the logarithm of
a paired ratio has heavy tails, with a standard deviation of 0.18 to 0.28 for throughput and 0.06 to 0.09 for CPU time,
and two processes of the same code differ by about 1 % of CPU time for as long as they live.
Usage: ``python benchmarks/measure/verdict_rates.py [--runs 400] [--pairs 80] [--least 0.05]``
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from pytest_videodecode.measure.statistics import PER_CPU_SECOND, THROUGHPUT, Rule, headline, judge
from pytest_videodecode.measurement import Comparison, Direction

#: Standard deviation of log ratios of pairs (throughput, CPU time), and of what two processes differ by.
NOISE = {"quiet": (0.03, 0.02), "loaded": (0.2, 0.075), "crowded": (0.28, 0.09)}
OF_A_PROCESS = 0.01


def main() -> None:
    """Print how often each verdict came."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--pairs", type=int, default=80, help="pairs that the time is enough for")
    parser.add_argument("--least", type=float, default=Rule().least)
    arguments = parser.parse_args()
    rule, rng = Rule(least=arguments.least), np.random.default_rng(0)
    for machine, noise in NOISE.items():
        for slowdown in (0.0, 0.1):
            verdicts = [run(rng, noise, slowdown, arguments.pairs, rule) for _ in range(arguments.runs)]
            came = Counter(f"{verdict.direction} by {verdict.metric}" for verdict in verdicts)
            shown = ", ".join(f"{verdict} {count / arguments.runs:.1%}" for verdict, count in came.most_common())
            print(f"{machine:<8} {slowdown:4.0%} slower: {shown}", flush=True)


def run(rng: np.random.Generator, noise: tuple[float, float], slowdown: float, pairs: int, rule: Rule) -> Comparison:
    """The verdict of one simulated comparison."""
    bias = rng.normal(-np.log1p(slowdown), OF_A_PROCESS)
    rates, per_cpu = (np.exp(bias + sd * heavy(rng, pairs)) for sd in noise)
    for look in range(1, rule.looks + 1):
        seen = pairs * look // rule.looks
        throughput, cpu = (
            judge(ratios[:seen].tolist(), rule, before="a", after="b", metric=metric, share=1 / rule.looks)
            for ratios, metric in ((rates, THROUGHPUT), (per_cpu, PER_CPU_SECOND))
        )
        if throughput.direction is not Direction.UNDECIDED:
            break
    return headline(throughput, cpu)


def heavy(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Student's t with 4 degrees of freedom, scaled to a standard deviation of 1."""
    return np.asarray(rng.standard_t(4, count) / 2**0.5)


if __name__ == "__main__":
    main()
