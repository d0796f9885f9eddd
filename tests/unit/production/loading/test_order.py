"""The order: each sample once, after its frames; reproducible; bounded; mixed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from pytest_videodecode.production.loading.blocks import BlockLayout, all_blocks
from pytest_videodecode.production.loading.order import BufferLimits, Draw, SampleOrder, View

SECONDS = tuple(range(-140, 1, 20))
FRAME_BYTES = 1000


def order(
    lengths: Sequence[int],
    *,
    windows: Sequence[tuple[int, ...]] = (SECONDS,),
    limits: BufferLimits | None = None,
    seed: str = "1",
) -> SampleOrder:
    limits = limits or BufferLimits(samples=200, picture_bytes=FRAME_BYTES * 10**6)
    steps = tuple(sorted({step for window in windows for step in window})) or (0,)
    layout = BlockLayout(offsets=steps, keyframe_interval=2, limit=200, in_order=limits.in_order)
    views = [View((f"camera {number}",), window, FRAME_BYTES) for number, window in enumerate(windows)]
    return SampleOrder(list(all_blocks(layout, range(len(lengths)), lengths)), lengths, views, limits, seed)


def keys(draws: Sequence[Draw]) -> list[tuple[int, int]]:
    return [(draw.block.episode, draw.frame) for draw in draws]


@pytest.mark.parametrize("windows", [(), ((0,),), (SECONDS,), (SECONDS, (0,)), ((5, -5, 5),)])
@pytest.mark.parametrize("in_order", [False, True])
def test_each_sample_comes_once_after_its_frames(windows: Sequence[tuple[int, ...]], in_order: bool) -> None:
    lengths = [50, 1, 333]
    limits = BufferLimits(samples=40, picture_bytes=FRAME_BYTES * 300, in_order=in_order)
    decoded: Counter[tuple[int, int, int]] = Counter()
    seen = []
    for draw in order(lengths, windows=windows, limits=limits):
        for step in draw.steps:
            for view, (first, last) in enumerate(step.frames):
                decoded.update((id(step.block), view, place) for place in range(first, last))
        for view, (window, places) in enumerate(zip(windows, draw.places, strict=True)):
            length = lengths[draw.block.episode]
            shown = [min(max(draw.frame + step, 0), length - 1) for step in window]
            assert draw.block.frames[view][places].tolist() == shown
            assert all(decoded[id(draw.block), view, place] == 1 for place in places)
        seen.append(draw)
    assert Counter(keys(seen)) == {(e, frame): 1 for e, length in enumerate(lengths) for frame in range(length)}


def test_frames_are_let_go_once_and_all() -> None:
    held: Counter[tuple[int, int]] = Counter()
    for draw in order([100, 200], windows=(SECONDS, (0, 0))):
        for step in draw.steps:
            held[id(step.block), 0] += sum(last - first for first, last in step.frames)
        for gone in draw.last:
            assert len(set(gone)) == len(gone)
            held[id(draw.block), 0] -= len(gone)
    assert set(held.values()) == {0}


def test_the_seed_is_the_order() -> None:
    lengths = [90] * 5
    first = keys(list(order(lengths)))
    assert keys(list(order(lengths))) == first
    assert keys(list(order(lengths, seed="2"))) != first


def test_in_order_is_the_order_of_the_episodes() -> None:
    limits = BufferLimits(samples=40, picture_bytes=10**9, in_order=True)
    assert keys(list(order([30, 40], limits=limits))) == [(e, f) for e, n in ((0, 30), (1, 40)) for f in range(n)]


@pytest.mark.parametrize(("samples", "frames"), [(100, 10**6), (10**6, 300)])
def test_no_more_waits_than_the_limits_say(samples: int, frames: int) -> None:
    limits = BufferLimits(samples=samples, picture_bytes=FRAME_BYTES * frames)
    waiting = pictures = most_waiting = most_pictures = 0
    for draw in order([300] * 20, limits=limits):
        for step in draw.steps:
            pictures += sum(last - first for first, last in step.frames)
            waiting += len(step.block.ready[step.number])
        most_waiting, most_pictures = max(most_waiting, waiting), max(most_pictures, pictures)
        waiting -= 1
        pictures -= sum(map(len, draw.last))
    assert most_waiting <= samples + limits.step_frames
    assert most_pictures <= frames + limits.step_frames * 2
    assert most_waiting > 60


def test_the_first_sample_does_not_wait_for_a_full_buffer() -> None:
    first = next(iter(order([1000] * 20, windows=((0,),), limits=BufferLimits(5000, FRAME_BYTES * 10**6))))
    assert sum(last - first for step in first.steps for first, last in step.frames) <= 160


def test_decoding_is_spread_over_the_samples() -> None:
    steps = [len(draw.steps) for draw in order([1000] * 20, windows=((0,),))]
    assert max(steps[1:]) <= 2


def test_neighbouring_draws_come_from_many_episodes() -> None:
    limits = BufferLimits(samples=1000, picture_bytes=FRAME_BYTES * 10**6)
    drawn = [episode for episode, _ in keys(list(order([200] * 64, windows=((0,),), limits=limits)))]
    batches = [len(set(drawn[at : at + 8])) for at in range(0, len(drawn), 8)]
    assert np.mean(batches[: len(batches) // 2]) > 5
    assert np.mean(batches[len(batches) // 2 : -100]) > 6.5
