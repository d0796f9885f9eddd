"""What a loader is asked for, checked against its data set: place among ranks, episodes, cameras' windows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from pytest_videodecode.production.dataset import Dataset
from pytest_videodecode.production.layout.errors import DatasetError
from pytest_videodecode.production.loading.order import View


def place_of(rank: int | None, world_size: int | None) -> tuple[int, int]:
    """``rank`` and ``world_size``, each from the variable RANK or WORLD_SIZE if None, else 0 and 1.

    Raises:
        DatasetError: a variable that is no number, or a rank that is not below ``world_size``.
    """
    found = []
    for name, value, default in (("RANK", rank, 0), ("WORLD_SIZE", world_size, 1)):
        text = os.environ.get(name, "").strip()
        if value is None and text and not (text.isascii() and text.isdigit() and len(text) < 10):
            raise DatasetError(f"{name}={text[:40]!r} is no number; unset it, or give rank and world_size")
        found.append(value if value is not None else int(text) if text else default)
    if not 0 <= found[0] < found[1]:
        raise DatasetError(f"rank {found[0]} of world_size {found[1]} cannot be; ranks count from 0")
    return found[0], found[1]


def chosen_episodes(dataset: Dataset, asked: Iterable[int] | None) -> tuple[int, ...]:
    """The episodes asked, all if None.

    Raises:
        DatasetError: there is no such episode, none is asked, or one twice.
    """
    count = len(dataset.episodes)
    chosen = tuple(range(count)) if asked is None else tuple(int(episode) for episode in asked)
    if not chosen or len(set(chosen)) < len(chosen) or min(chosen) < 0 or max(chosen) >= count:
        raise DatasetError(f"episodes must be different numbers from 0 to {count - 1}, one at least")
    return chosen


def views_of(dataset: Dataset, offsets: Mapping[str, tuple[int, ...]]) -> list[View]:
    """The cameras by their windows; a camera without one shows the sample's own frame."""
    by_offsets: dict[tuple[int, ...], list[str]] = {}
    for camera in dataset.info.cameras:
        by_offsets.setdefault(offsets.get(camera, (0,)), []).append(camera)
    sizes = {camera: dataset.info.features[camera].size for camera in dataset.info.cameras}
    return [
        View(tuple(cameras), steps, sum(3 * sizes[camera][0] * sizes[camera][1] for camera in cameras))
        for steps, cameras in by_offsets.items()
    ]
