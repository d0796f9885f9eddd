"""Memory is lent as long as anybody looks at it, and then lent again."""

from __future__ import annotations

import numpy as np
import torch

from pytest_videodecode.production.loading.pictures import PicturePool


def test_frames_are_kept_channels_first_and_their_memory_used_again() -> None:
    pool = PicturePool()
    picture = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)
    kept = pool.keep(picture)
    np.testing.assert_array_equal(kept, picture.transpose(2, 0, 1))
    pool.give_back(kept)
    assert pool.keep(picture + 1) is kept


def test_lent_memory_comes_back_when_nobody_refers_to_it() -> None:
    pool = PicturePool()
    whole = torch.from_numpy(pool.lend((2, 3), np.float32)).fill_(7)
    address = whole.data_ptr()
    part = whole[1:].numpy()[0, 1:]
    del whole
    others = [pool.lend((2, 3), np.float32) for _ in range(3)]
    for other in others:
        other.fill(0)
    assert part.tolist() == [7, 7]
    del part
    again = pool.lend((2, 3), np.float32)
    assert again.ctypes.data == address
    assert again.shape == (2, 3)


def test_memory_moved_to_other_processes_is_not_lent_twice() -> None:
    pool = PicturePool()
    moved = torch.from_numpy(pool.lend((4,), np.uint8)).fill_(5)
    moved.share_memory_()  # type: ignore[no-untyped-call]
    pool.lend((4,), np.uint8).fill(0)
    assert moved.tolist() == [5, 5, 5, 5]


def test_no_more_is_kept_than_a_few_batches() -> None:
    pool = PicturePool()
    many = [pool.lend((64, 1024, 1024), np.uint8) for _ in range(6)]
    assert len({array.ctypes.data for array in many}) == 6
    del many
    assert sum(memory.nbytes for kept in pool._returned.values() for memory in kept) <= 256 * 1024**2
