"""Blocks partition the samples of every episode, and cost no frame twice where that can be had."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_videodecode.production.loading.blocks import Block, BlockLayout, all_blocks, share

offsets = st.lists(st.integers(-200, 200), min_size=1, max_size=8).map(tuple)
layouts = st.builds(
    BlockLayout,
    offsets=st.one_of(offsets, offsets.map(lambda steps: tuple(20 * step for step in steps))),
    keyframe_interval=st.sampled_from((1, 2, 8, 30, 250)),
    limit=st.integers(1, 400),
    in_order=st.booleans(),
)


def samples(blocks: list[Block]) -> Counter[tuple[int, int]]:
    return Counter((block.episode, int(frame)) for block in blocks for frame in block.frames())


@given(layouts, st.lists(st.integers(1, 300), min_size=1, max_size=5))
def test_every_frame_is_a_sample_of_one_block(layout: BlockLayout, lengths: list[int]) -> None:
    blocks = list(all_blocks(layout, range(len(lengths)), lengths))
    expected = {(episode, frame): 1 for episode, length in enumerate(lengths) for frame in range(length)}
    assert samples(blocks) == expected
    assert all(block.count == len(block.frames()) for block in blocks)


@given(layouts, st.lists(st.integers(1, 300), min_size=1, max_size=5), st.integers(1, 40))
def test_shares_part_the_samples_evenly(layout: BlockLayout, lengths: list[int], count: int) -> None:
    blocks = list(all_blocks(layout, range(len(lengths)), lengths))
    shares = [share(blocks, index, count) for index in range(count)]
    sizes = [sum(block.count for block in part) for part in shares]
    assert max(sizes) - min(sizes) <= 1
    assert sum((samples(part) for part in shares), Counter()) == samples(blocks)


def test_a_share_can_be_shared_again() -> None:
    layout = BlockLayout(offsets=tuple(range(0, 160, 20)), keyframe_interval=2, limit=400)
    blocks = list(all_blocks(layout, range(3), [100, 7, 333]))
    parts = [share(share(blocks, rank, 3), worker, 4) for rank in range(3) for worker in range(4)]
    assert sum((samples(part) for part in parts), Counter()) == samples(blocks)


def test_a_window_of_seconds_is_cut_into_combs_of_whole_gops() -> None:
    layout = BlockLayout(offsets=tuple(range(-140, 1, 20)), keyframe_interval=2, limit=400)
    blocks = list(layout.blocks(0, 200))
    assert {block.pitch for block in blocks} == {20}
    assert all(block.start % 2 == 0 and block.width % 2 == 0 for block in blocks)
    needed = sum(
        len({max(f + step, 0) for f in block.frames().tolist() for step in layout.offsets}) for block in blocks
    )
    assert needed <= 200 * 1.05


@pytest.mark.parametrize(("offsets", "gop"), [((0,), 2), (tuple(range(9)), 2), (tuple(range(0, 160, 20)), 30)])
def test_other_windows_are_cut_into_stretches_of_whole_gops(offsets: tuple[int, ...], gop: int) -> None:
    layout = BlockLayout(offsets=offsets, keyframe_interval=gop, limit=1000)
    blocks = list(layout.blocks(0, 900))
    assert all(block.frames().tolist() == list(range(block.start, block.stop)) for block in blocks)
    assert all(block.start % gop == 0 for block in blocks)
    assert sum(block.count + layout.reach for block in blocks) <= 900 * 1.35


def test_a_long_comb_is_cut_where_that_costs_little() -> None:
    blocks = list(BlockLayout(offsets=tuple(range(0, 33, 4)), keyframe_interval=2, limit=1000).blocks(0, 3000))
    assert len(blocks) > 4
    assert sum(len({f + step for f in block.frames().tolist() for step in range(0, 33, 4)}) for block in blocks) < 3300


def test_no_block_is_larger_than_the_limit() -> None:
    for offsets in ((0,), tuple(range(0, 160, 20)), tuple(range(100))):
        layout = BlockLayout(offsets=offsets, keyframe_interval=2, limit=30)
        assert max(block.count for block in layout.blocks(0, 5000)) <= 30
