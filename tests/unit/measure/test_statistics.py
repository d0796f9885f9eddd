from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

from pytest_videodecode.errors import Unsupported
from pytest_videodecode.measure.statistics import FEWEST_PAIRS, Rule, headline, judge, require_scipy
from pytest_videodecode.measurement import Comparison, Direction

SLOWER, FASTER, NONE, UNDECIDED = (
    Direction.SLOWER,
    Direction.FASTER,
    Direction.NO_DIFFERENCE,
    Direction.UNDECIDED,
)


def judged(centre: float, noise: float, pairs: int = 60, rule: Rule | None = None, seed: int = 0) -> Comparison:
    rng = np.random.default_rng(seed)
    ratios = centre * np.exp(noise * rng.standard_normal(pairs))
    return judge(ratios.tolist(), rule or Rule(), before="a", after="b", metric="throughput")


@pytest.mark.parametrize(
    ("centre", "noise", "direction"),
    [
        (1.0, 0.02, NONE),
        (1 / 1.1, 0.05, SLOWER),
        (1.1, 0.05, FASTER),
        (1.0, 0.5, UNDECIDED),
        (0.98, 0.01, NONE),  # known to differ, by less than counts
        (0.93, 0.3, UNDECIDED),
    ],
)
def test_direction_follows_from_interval_and_least_effect(centre: float, noise: float, direction: Direction) -> None:
    found = judged(centre, noise)
    assert found.direction is direction
    assert found.low <= found.ratio <= found.high
    assert found.pairs == 60


def test_how_much_at_least_is_the_near_end_of_the_interval() -> None:
    slower, faster = judged(0.5, 0.05), judged(2.0, 0.05)
    assert slower.at_least == pytest.approx(1 - slower.high)
    assert faster.at_least == pytest.approx(faster.low - 1)
    assert judged(1.0, 0.02).at_least == 0


def test_median_does_not_mind_a_few_wild_rounds() -> None:
    ratios = [0.9] * 40 + [30.0] * 5
    found = judge(ratios, Rule(), before="a", after="b", metric="throughput")
    assert found.ratio == pytest.approx(0.9)
    assert found.direction is SLOWER


def test_few_pairs_decide_nothing_and_few_more_with_less_confidence() -> None:
    assert judged(0.5, 0.01, pairs=FEWEST_PAIRS - 1).direction is UNDECIDED
    few = judged(0.5, 0.01, pairs=FEWEST_PAIRS)
    assert few.direction is SLOWER
    assert few.confidence == 1 - 1 / 32
    enough = Rule().least_pairs(1.0)
    assert enough > FEWEST_PAIRS
    assert judged(0.5, 0.01, pairs=enough).confidence == 0.99
    assert Rule().least_pairs(1 / 3) > enough


def test_smaller_share_of_the_doubt_is_a_wider_interval() -> None:
    ratios = np.exp(0.1 * np.random.default_rng(1).standard_normal(40)).tolist()
    whole, third = (
        judge(ratios, Rule(), before="a", after="b", metric="throughput", share=share) for share in (1.0, 1 / 3)
    )
    assert third.low < whole.low < whole.ratio < whole.high < third.high


def test_same_ratios_give_the_same_interval() -> None:
    assert judged(1.0, 0.1) == judged(1.0, 0.1)


def test_interval_covers_the_truth_as_often_as_it_says() -> None:
    rule = Rule(confidence=0.9)
    found = [judged(1.0, 0.2, pairs=30, rule=rule, seed=seed) for seed in range(60)]
    covered = sum(one.low <= 1 <= one.high for one in found)
    assert 47 <= covered <= 60  # 54 expected; fewer than 47 come once in a thousand times


def shown(direction: Direction, low: float, high: float, metric: str) -> Comparison:
    return replace(judged(1.0, 0.1), direction=direction, low=low, high=high, metric=metric)


@pytest.mark.parametrize(
    ("throughput", "cpu", "metric"),
    [
        ((SLOWER, 0.8, 0.9), (NONE, 0.99, 1.01), "throughput"),
        ((UNDECIDED, 0.8, 1.1), (SLOWER, 0.88, 0.93), "CPU"),
        ((UNDECIDED, 0.9, 1.1), (NONE, 0.99, 1.01), "CPU"),
        ((UNDECIDED, 0.9, 1.1), (UNDECIDED, 0.9, 1.1), "throughput"),
        ((UNDECIDED, 0.9, 0.99), (NONE, 0.99, 1.01), "throughput"),  # it waits for something
        ((UNDECIDED, 0.9, 0.99), (FASTER, 1.1, 1.2), "throughput"),  # less CPU, more time
        ((UNDECIDED, 1.01, 1.1), (SLOWER, 0.8, 0.9), "throughput"),
    ],
)
def test_cpu_time_decides_only_where_throughput_does_not_say_otherwise(
    throughput: tuple[Direction, float, float], cpu: tuple[Direction, float, float], metric: str
) -> None:
    assert headline(shown(*throughput, "throughput"), shown(*cpu, "CPU")).metric == metric


def test_missing_scipy_is_one_line_that_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(Unsupported, match=r"^comparing needs scipy .*pip install 'pytest-videodecode\[measure\]'$"):
        require_scipy()
