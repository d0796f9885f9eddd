"""``StreamingDataset``: samples of a LeRobot v3 data set in a shuffled order, for any number of ranks and workers.

How it goes: episodes are cut into blocks (``blocks``), blocks are dealt to ranks and workers (``share``), and the
order of samples and of decoding is worked out with numbers alone (``order``). ``samples`` follows that order:
it decodes a few frames of each camera ahead and keeps each decoded frame until the last sample that shows it.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import torch
from torch.utils.data import IterableDataset, get_worker_info

from pytest_videodecode.production.dataset import open_dataset
from pytest_videodecode.production.decoder_cache import CacheStatistics
from pytest_videodecode.production.layout.errors import DatasetError, LoaderStateError
from pytest_videodecode.production.loading.blocks import Block, BlockLayout, all_blocks, share
from pytest_videodecode.production.loading.episode_clips import ClipSettings
from pytest_videodecode.production.loading.order import BufferLimits, SampleOrder
from pytest_videodecode.production.loading.samples import SampleMaker
from pytest_videodecode.production.loading.settings import chosen_episodes, place_of, views_of
from pytest_videodecode.production.loading.state import POSITION, LoaderState
from pytest_videodecode.production.loading.windows import delta_frames

#: The key under which samples carry, with ``timing=True``, seconds in the loader, in decoding and in fetching.
TIMING = "loader_timing"

_ORDER = 1  # raise it when the same seed would give another order: saved states are of no use then


@dataclass(frozen=True)
class LoaderStatistics:
    """What one process has done so far. Times in seconds.

    ``frames_decoded`` are distinct frames asked of the decoder, ``frames_delivered`` those that samples showed,
    ``skipped`` the samples left out because of ``unreadable_clips``.
    """

    samples: int
    skipped: int
    frames_decoded: int
    frames_delivered: int
    decode_s: float
    fetch_s: float
    unreadable_clips: tuple[str, ...]
    video_decoder_cache: CacheStatistics


class StreamingDataset(IterableDataset[dict[str, Any]]):
    """Iterates over every frame of the data set as a sample, once an epoch over all ranks and workers together.

    ``root`` is a folder or a URL that fsspec knows; without it ``repo_id`` (``OWNER/NAME``) is read from the Hub, at
    ``revision``. ``data_files_root`` is where ``data/`` and ``videos/`` are if not there. ``episodes`` are those to
    read (None: all).

    A sample is a dict as LeRobot makes it: a tensor for each feature and the text ``task``. Cameras are float32 in
    [0,1], or uint8 with ``return_uint8``, shape (3,H,W). A feature in ``delta_timestamps`` (offsets in s, multiples
    of 1/fps) gets a first dimension for its window and ``{key}_is_pad``, bool (T,): where a window leaves the
    episode, its first or last frame is shown and marked there. A frame is decoded once for all samples that show it;
    it waits as uint8 in a buffer of at most ``buffer_size`` samples and ``buffer_mib`` MiB per worker, whichever is
    less. ``loading.order`` says how random the order is.

    ``rank`` and ``world_size`` default to the variables ``RANK`` and ``WORLD_SIZE`` that torchrun and accelerate set,
    0 and 1 without them. A rank always has the same stretch of the data set; among its workers episodes are dealt anew
    each epoch (``set_epoch``). The same seed, epoch and numbers of ranks and workers give the same order. Ranks differ
    by one sample at most, workers of a rank too.

    ``on_damage="skip"`` leaves out samples whose frames cannot be read, says so once for each clip
    (``UnreadableClipWarning``) and counts them; ``"raise"`` raises ``UnreadableClipError``. ``threads`` is libdav1d's
    pool for each clip: 1 costs the least CPU, None is the reader's default. ``decoder_cache_size`` clips stay open
    per worker; give at least as many as there are cameras.

    ``timing`` and ``positions`` add ``loader_timing`` (float64 (3,): seconds in the loader, of these in decoding and
    in fetching) and ``stream_position`` (see ``LoaderProgress``) to each sample.

    Raises:
        DatasetError: no usable LeRobot v3 data set, or arguments that do not fit it.
        VideoReadError: the source cannot be reached, or a video not be opened.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        repo_id: str | None = None,
        *,
        revision: str | None = None,
        data_files_root: str | os.PathLike[str] | None = None,
        episodes: Sequence[int] | None = None,
        delta_timestamps: Mapping[str, Sequence[float]] | None = None,
        tolerance_s: float = 1e-4,
        buffer_size: int = 1000,
        buffer_mib: int = 512,
        shuffle: bool = True,
        seed: int = 42,
        decoder_cache_size: int = 16,
        on_damage: str = "raise",
        video_decode_device: str = "cpu",
        rank: int | None = None,
        world_size: int | None = None,
        threads: int | None = 1,
        return_uint8: bool = False,
        timing: bool = False,
        positions: bool = False,
    ) -> None:
        super().__init__()
        if root is None and repo_id is None:
            raise DatasetError("give root (a folder or URL) or repo_id (a data set of the Hub)")
        for name, value in (("buffer_size", buffer_size), ("buffer_mib", buffer_mib)):
            if value < 1:
                raise DatasetError(f"{name} is {value}; give 1 or more")
        if on_damage not in ("raise", "skip"):
            raise DatasetError(f"on_damage is {on_damage!r:.40}; give 'raise' or 'skip'")
        self.rank, self.world_size = place_of(rank, world_size)
        self.seed, self.shuffle = seed, shuffle
        self.dataset = open_dataset(
            f"hf://datasets/{repo_id}" if root is None else root, revision=revision, data_files_root=data_files_root
        )
        self.episodes = chosen_episodes(self.dataset, episodes)
        self._offsets = delta_frames(delta_timestamps, self.dataset.info, tolerance_s)
        self._views = views_of(self.dataset, self._offsets)
        self._limits = BufferLimits(buffer_size, buffer_mib * 1024**2, in_order=not shuffle)
        self._lengths: list[int] = self.dataset.episodes.lengths.tolist()
        self._clip_settings = ClipSettings(
            cache_size=decoder_cache_size,
            tolerance_s=tolerance_s,
            threads=threads,
            device=video_decode_device,
            skip_damage=on_damage == "skip",
        )
        self._return_uint8, self._timing, self._positions = return_uint8, timing, positions
        self._resume: LoaderState | None = None
        self._epoch = _shared(torch.zeros((), dtype=torch.int64))
        self._in_workers = _shared(torch.zeros((), dtype=torch.bool))
        self._resumed = torch.zeros(0, dtype=torch.bool)
        self._drawn: tuple[int, int, int] | None = None
        self._begin_counting()

    @property
    def fps(self) -> float:
        """Frames a second of the data set."""
        return self.dataset.info.fps

    @property
    def num_episodes(self) -> int:
        """How many episodes are read, over all ranks."""
        return len(self.episodes)

    @property
    def num_frames(self) -> int:
        """How many samples an epoch has, over all ranks."""
        return sum(self._lengths[episode] for episode in self.episodes)

    @property
    def statistics(self) -> LoaderStatistics:
        """What this process has done; a worker of a DataLoader has its own."""
        return LoaderStatistics(
            samples=self._samples,
            skipped=self._skipped,
            frames_decoded=self._maker.clips.frames,
            frames_delivered=self._maker.delivered,
            decode_s=self._maker.clips.decode_s,
            fetch_s=self._maker.fetch_s,
            unreadable_clips=tuple(sorted(self._maker.clips.unreadable)),
            video_decoder_cache=self._maker.clips.cache,
        )

    def set_epoch(self, epoch: int) -> None:
        """Which epoch the next iterator is of; each is shuffled in its own way. Reaches persistent workers as well."""
        self._epoch.fill_(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Where the epoch stands in this process: after the last sample that its newest iterator has given out.

        Raises:
            LoaderStateError: workers of a DataLoader iterate, which only ``LoaderProgress`` or torchdata's
                StatefulDataLoader can follow.
        """
        if bool(self._in_workers) and get_worker_info() is None:
            raise LoaderStateError(
                "worker processes iterate this data set; take the state from LoaderProgress, or use torchdata's "
                "StatefulDataLoader"
            )
        if self._drawn is None:
            return self.start_state(1)
        worker, workers, drawn = self._drawn
        return {**self.start_state(workers), "drawn": {str(worker): drawn}}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Have the next iterator (of each worker) go on where ``state`` was taken, in its epoch.

        Raises:
            LoaderStateError: the state does not belong to this data set, these settings or this rank.
        """
        self._resume = LoaderState.from_dict(state, self._state(1))
        self._resumed = _shared(torch.zeros(self._resume.workers, dtype=torch.bool))
        self._epoch.fill_(self._resume.epoch)
        self._in_workers.fill_(False)
        self._drawn = None

    def start_state(self, workers: int) -> dict[str, Any]:
        """The state that the next iterators of ``workers`` workers begin with."""
        if self._resume is not None and self._resume.epoch == int(self._epoch) and not bool(self._resumed.any()):
            return self._resume.as_dict()
        return self._state(workers).as_dict()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        process = get_worker_info()
        worker, workers = (process.id, process.num_workers) if process else (0, 1)
        self._in_workers.fill_(process is not None)
        if self._pid != os.getpid():
            self._begin_counting()
        epoch, drawn = int(self._epoch), 0
        resume = self._resume
        if resume is not None and resume.epoch == epoch and not bool(self._resumed.all()):
            if resume.workers != workers:
                raise LoaderStateError(
                    f"the state is of {resume.workers} worker(s), this DataLoader has {workers}; use as many, or "
                    "begin the epoch anew"
                )
            if not bool(self._resumed[worker]):
                self._resumed[worker] = True
                worker = (worker + resume.turn) % workers
                drawn = resume.drawn.get(worker, 0)
        self._drawn = worker, workers, drawn
        return self._iterate(epoch, worker, workers, drawn)

    def __getstate__(self) -> dict[str, Any]:
        return {**{name: value for name, value in vars(self).items() if name != "_maker"}, "_drawn": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._begin_counting()

    def _begin_counting(self) -> None:
        self._pid = os.getpid()
        self._maker = SampleMaker(
            self.dataset, self._views, self._offsets, self._clip_settings, return_uint8=self._return_uint8
        )
        self._samples = self._skipped = 0

    def _state(self, workers: int) -> LoaderState:
        parts = [
            _ORDER,
            self.seed,
            self.shuffle,
            self._lengths,
            self.episodes,
            sorted(self._offsets.items()),
            [(view.offsets, view.frame_bytes) for view in self._views],
            self.dataset.keyframe_interval,
            [self._limits.samples, self._limits.picture_bytes, self._limits.step_frames],
        ]
        identity = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]
        return LoaderState(identity, int(self._epoch), self.rank, self.world_size, workers)

    def _share(self, epoch: int, worker: int, workers: int) -> list[Block]:
        """The blocks of one worker."""
        frame_bytes = sum(view.frame_bytes for view in self._views)
        layout = BlockLayout(
            offsets=tuple(sorted({offset for view in self._views for offset in view.offsets})) or (0,),
            keyframe_interval=self.dataset.keyframe_interval,
            limit=max(1, self._limits.picture_bytes // 2 // max(frame_bytes, 1)),
            in_order=not self.shuffle,
        )
        mine = share(all_blocks(layout, self.episodes, self._lengths), self.rank, self.world_size)
        if self.shuffle:
            by_episode: dict[int, list[Block]] = {}
            for block in mine:
                by_episode.setdefault(block.episode, []).append(block)
            dealt = list(by_episode.values())
            Random(f"{self.seed} {epoch} {self.rank} deal").shuffle(dealt)
            mine = [block for blocks in dealt for block in blocks]
        return share(mine, worker, workers)

    def _iterate(self, epoch: int, worker: int, workers: int, start: int) -> Iterator[dict[str, Any]]:
        seed = f"{self.seed} {epoch} {self.rank} {worker} {workers}"
        order = SampleOrder(self._share(epoch, worker, workers), self._lengths, self._views, self._limits, seed)
        begun = self._times()
        for number, draw in enumerate(order, start=1):
            if number <= start:
                continue
            sample = self._maker.sample(draw)
            self._drawn = worker, workers, number
            if sample is None:
                self._skipped += 1
                continue
            self._samples += 1
            if self._positions:
                sample[POSITION] = torch.tensor((worker, number))
            if self._timing:
                sample[TIMING] = self._times() - begun
            yield sample
            begun = self._times()

    def _times(self) -> torch.Tensor:
        spent = time.perf_counter(), self._maker.clips.decode_s, self._maker.fetch_s
        return torch.tensor(spent, dtype=torch.float64)


def _shared(values: torch.Tensor) -> torch.Tensor:
    """``values`` in memory that worker processes see too, also those that outlive an epoch."""
    values.share_memory_()  # type: ignore[no-untyped-call]
    return values
