"""Streaming a small data set in tests: its windows, its samples by key, and whether each is the right one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from small_dataset import CAMERAS, FPS, LENGTHS
from torch.utils.data import DataLoader

from pytest_videodecode.datasets.truth import DatasetTruth
from pytest_videodecode.production.streaming import StreamingDataset

FRONT, WRIST = (f"observation.images.{camera}" for camera in CAMERAS)
#: A window of seconds for one camera, two neighbouring frames for the other, actions to come.
WINDOWS = {FRONT: [-2.0, -1.0, 0.0, 1.0], WRIST: [-0.1, 0.0], "action": [0.0, 0.1, 0.2]}
FRAMES = sum(LENGTHS)


def streaming(truth: DatasetTruth, **settings: Any) -> StreamingDataset:
    return StreamingDataset(truth.folder, **({"return_uint8": True, "decoder_cache_size": 4} | settings))


def key(sample: dict[str, Any]) -> tuple[int, int]:
    return int(sample["episode_index"]), int(sample["frame_index"])


def keys(samples: Iterable[dict[str, Any]]) -> list[tuple[int, int]]:
    return [key(sample) for sample in samples]


def loader(dataset: StreamingDataset, workers: int, **settings: Any) -> DataLoader[dict[str, Any]]:
    """Batches of one sample, as it is."""
    return DataLoader(dataset, batch_size=None, num_workers=workers, **settings)


def batch_keys(batch: Mapping[str, Any]) -> list[tuple[int, int]]:
    return list(zip(batch["episode_index"].tolist(), batch["frame_index"].tolist(), strict=True))


def require_true(truth: DatasetTruth, sample: dict[str, Any], windows: dict[str, list[float]]) -> None:
    """That every part of ``sample`` is what its episode and frame say."""
    episode, frame = key(sample)
    row = truth.row(episode, frame)
    for name, value in row.items():
        if name not in windows:
            np.testing.assert_array_equal(sample[name].numpy(), value)
            assert sample[name].numpy().dtype == value.dtype
    for name in ("action", *truth.keys):
        steps = windows.get(name)
        offsets = tuple(round(step * FPS) for step in steps) if steps else (0,)
        shown, padding = truth.window(episode, frame, offsets)
        if steps:
            np.testing.assert_array_equal(sample[f"{name}_is_pad"].numpy(), padding)
        else:
            assert f"{name}_is_pad" not in sample
        if name in truth.keys:
            pictures = sample[name] if steps else sample[name][None]
            marks = [(episode, truth.keys.index(name), number) for number in shown]
            assert [tuple(mark or ()) for mark in truth.read(pictures)] == marks
        elif steps:
            assert sample[name].tolist() == [truth.row(episode, number)[name].tolist() for number in shown]
    assert sample["task"] == f"read the mark{' again' * (episode % 2)}"
