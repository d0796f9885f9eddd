"""Samples put together: pictures out of the store of decoded frames, everything else out of the rows."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from pytest_videodecode.production.dataset import Dataset
from pytest_videodecode.production.layout.errors import DatasetError, UnreadableClipError
from pytest_videodecode.production.loading.episode_clips import ClipSettings, EpisodeClips
from pytest_videodecode.production.loading.order import Draw, Step, View
from pytest_videodecode.production.loading.pictures import PicturePool
from pytest_videodecode.production.loading.windows import window

_WHITE = np.float32(255)


class SampleMaker:
    """Follows a ``SampleOrder``: decodes its steps, makes the sample of each draw. For one process and one thread.

    ``offsets`` are the windows by feature, in frames. A decoded frame lies once in memory, in its block, until the
    last sample that shows it. ``delivered`` counts the frames shown.
    """

    def __init__(
        self,
        dataset: Dataset,
        views: Sequence[View],
        offsets: Mapping[str, tuple[int, ...]],
        settings: ClipSettings,
        *,
        return_uint8: bool,
    ) -> None:
        self._dataset, self._views, self._offsets, self._return_uint8 = dataset, views, offsets, return_uint8
        self.clips = EpisodeClips(dataset, settings)
        self._rows = dataset.row_reader()
        self._pool = PicturePool()
        self.delivered = 0
        self._rows_s = 0.0

    @property
    def fetch_s(self) -> float:
        """Time (s) spent so far in getting files from the source, and rows out of them."""
        return self.clips.fetch_s + self._rows_s

    def sample(self, draw: Draw) -> dict[str, Any] | None:
        """The sample, None if a frame of it cannot be read; lets go of frames that no other sample needs."""
        for step in draw.steps:
            self._decode(step, draw)
        block = draw.block
        for number, places in enumerate(draw.places):
            for place in places:
                if block.pictures[number][place] is None:  # not decoded yet where an epoch is taken up again
                    self._decode(block.step_of(number, place), draw)
        shown = {
            camera: [block.pictures[number][place][at] for place in draw.places[number]]
            for number, view in enumerate(self._views)
            for at, camera in enumerate(view.cameras)
        }
        readable = not any(isinstance(picture, UnreadableClipError) for each in shown.values() for picture in each)
        sample = self._columns(block.episode, draw.frame) if readable else None
        if sample is not None:
            for camera, pictures in shown.items():
                sample[camera] = self._stacked(pictures, camera in self._offsets)
                self.delivered += len(pictures)
        for number, places in enumerate(draw.last):
            for place in places:
                for picture in block.pictures[number][place]:
                    if not isinstance(picture, UnreadableClipError):
                        self._pool.give_back(picture)
                block.pictures[number][place] = None
        return sample

    def _decode(self, step: Step, draw: Draw) -> None:
        """Decode those frames of ``step`` that are not there and that ``draw`` or a later sample shows."""
        block = step.block
        for number, (view, (first, last)) in enumerate(zip(self._views, step.frames, strict=True)):
            held, uses = block.pictures[number], block.uses[number]
            shown = draw.places[number] if draw.block is block else ()
            places = [p for p in range(first, last) if held[p] is None and (uses[p] or p in shown)]
            if not places:
                continue
            frames = block.frames[number][places].tolist()
            pictures = [
                [
                    picture if isinstance(picture, UnreadableClipError) else self._pool.keep(picture)
                    for picture in self.clips.read(camera, block.episode, frames)
                ]
                for camera in view.cameras
            ]
            for place, of_cameras in zip(places, zip(*pictures, strict=True), strict=True):
                held[place] = of_cameras

    def _columns(self, episode: int, frame: int) -> dict[str, Any]:
        """What the rows say, the padding of every window, and the task."""
        asked = time.perf_counter()
        rows = self._rows.rows(episode)
        self._rows_s += time.perf_counter() - asked
        sample: dict[str, Any] = {}
        for name, column in rows.items():
            if name not in self._offsets:
                value = column[frame]
                sample[name] = value if isinstance(value, str) else torch.tensor(value)
        length = int(self._dataset.episodes.lengths[episode])
        for name, offsets in self._offsets.items():
            frames, padding = window(np.array([frame]), offsets, length)
            sample[f"{name}_is_pad"] = torch.from_numpy(padding[0])
            if name in rows:
                column = rows[name]
                texts = isinstance(column, list)
                sample[name] = [column[at] for at in frames[0]] if texts else torch.from_numpy(column[frames[0]])
        task = int(rows["task_index"][frame])
        tasks = self._dataset.tasks
        if not 0 <= task < len(tasks):
            raise DatasetError(
                f"{self._dataset.files.description}: frame {frame} of episode {episode} has task_index {task}, "
                f"meta/tasks.parquet has {len(tasks)} tasks; restore the one or the other"
            )
        sample["task"] = tasks[task]
        return sample

    def _stacked(self, pictures: Sequence[NDArray[np.uint8]], is_window: bool) -> torch.Tensor:
        dtype = np.uint8 if self._return_uint8 else np.float32
        stacked = self._pool.lend((len(pictures), *pictures[0].shape), dtype)
        # By numpy, because torch would share each small operation out among threads.
        for place, picture in zip(stacked, pictures, strict=True):
            if self._return_uint8:
                np.copyto(place, picture)
            else:
                np.divide(picture, _WHITE, out=place)
        return torch.from_numpy(stacked if is_window else stacked[0])
