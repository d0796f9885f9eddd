"""What paired rounds say: the median of their ratios, its bootstrap interval, and the verdict on both.

A difference is only called one when the interval leaves out 1 and the median is at least ``Rule.least`` away from
it; no difference only when the whole interval is nearer than that. The doubt is shared out over the planned looks
(Bonferroni), so that stopping at the first look that decides does not make false verdicts more frequent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pytest_videodecode.errors import Unsupported
from pytest_videodecode.measurement import Comparison, Direction

#: Both have the higher figure for the faster decoder.
THROUGHPUT = "throughput"
PER_CPU_SECOND = "samples per CPU second"

_RESAMPLES = 4999

#: Rounds may be so long that no more pairs than these can be had; they bear a confidence of 97 %, which is then said.
FEWEST_PAIRS = 6


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """How sure a verdict must be.

    ``least`` is the smallest effect that counts (0.05: 5 %). ``confidence`` is that of a difference, ``sameness``
    that of no difference; both hold over all ``looks``. The defaults were chosen by
    ``benchmarks/measure/verdict_rates.py``.
    """

    least: float = 0.05
    confidence: float = 0.99
    sameness: float = 0.95
    looks: int = 3

    def least_pairs(self, share: float) -> int:
        """Fewer pairs cannot bear ``confidence`` in a look with this share of the doubt.

        By chance alone, n ratios lie on the same side of 1 with a probability of 2^(1-n).
        """
        return math.ceil(1 - math.log2((1 - self.confidence) * share))


def require_scipy() -> None:
    """Import it now, which takes a second that is nobody's round.

    Raises:
        Unsupported: naming the extra that brings it.
    """
    try:
        import scipy.stats  # noqa: F401
    except ImportError as error:
        raise Unsupported(f"comparing needs scipy ({error}); run: pip install 'pytest-videodecode[measure]'") from None


def judge(
    ratios: Sequence[float], rule: Rule, *, before: str, after: str, metric: str, share: float = 1.0, seed: int = 0
) -> Comparison:
    """The verdict of one look at paired ``ratios`` (after to before, above 1 is faster), two of them at least.

    ``share`` is the part of the doubt that ``rule`` allows which this look may spend.
    """
    from scipy import stats

    logs = np.log(ratios)
    by_chance = 2.0 ** (1 - len(logs))
    confidence = rule.confidence if len(logs) >= rule.least_pairs(share) else 1 - by_chance
    resampled = stats.bootstrap(
        (logs,),
        np.median,
        n_resamples=_RESAMPLES,
        batch=max(1, 1_000_000 // len(logs)),
        confidence_level=1 - max((1 - rule.confidence) * share, by_chance),
        method="percentile",
        rng=np.random.default_rng(seed),
    )
    ratio, low, high = (float(np.exp(log)) for log in (np.median(logs), *resampled.confidence_interval))
    doubt = (1 - rule.sameness) * share
    nearest, farthest = np.exp(np.quantile(resampled.bootstrap_distribution, [doubt, 1 - doubt]))
    direction, at_least = Direction.UNDECIDED, 0.0
    if len(logs) >= FEWEST_PAIRS:
        if high < 1 and ratio * (1 + rule.least) <= 1:
            direction, at_least = Direction.SLOWER, 1 - high
        elif low > 1 and ratio >= 1 + rule.least:
            direction, at_least = Direction.FASTER, low - 1
        elif nearest * (1 + rule.least) >= 1 and farthest <= 1 + rule.least:
            direction = Direction.NO_DIFFERENCE
    return Comparison(
        before=before,
        after=after,
        metric=metric,
        ratio=ratio,
        low=low,
        high=high,
        confidence=confidence,
        pairs=len(logs),
        direction=direction,
        at_least=at_least,
    )


def headline(throughput: Comparison, per_cpu_second: Comparison) -> Comparison:
    """The one that the verdict is taken from: throughput, unless only CPU time decides and throughput lets it.

    A machine that does other work at the same time blurs throughput by more than what is looked for, and CPU time
    by far less. Throughput does not let it where it is known to differ another way: fewer threads may take less CPU
    and more time.
    """
    if throughput.direction is not Direction.UNDECIDED:
        return throughput
    allowed = {
        Direction.SLOWER: throughput.low <= 1,
        Direction.FASTER: throughput.high >= 1,
        Direction.NO_DIFFERENCE: throughput.low <= 1 <= throughput.high,
        Direction.UNDECIDED: False,
    }
    return per_cpu_second if allowed[per_cpu_second.direction] else throughput
