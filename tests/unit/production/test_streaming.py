"""The streaming loader: every sample once and the right one, whatever the topology; reproducible; resumable."""

from __future__ import annotations

import copy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from small_dataset import CAMERAS, FPS, LENGTHS, change_info, changed_copy, small_dataset
from streamed import FRAMES, FRONT, WINDOWS, WRIST, keys, loader, require_true, streaming

from pytest_videodecode.datasets.truth import DatasetTruth
from pytest_videodecode.production.layout.errors import DatasetError
from pytest_videodecode.production.streaming import TIMING, StreamingDataset

#: torch says so of every machine with fewer cores than workers.
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> DatasetTruth:
    return small_dataset(tmp_path_factory.mktemp("data") / "set")


@pytest.fixture(autouse=True)
def _no_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("windows", [{}, WINDOWS, {FRONT: [step / FPS for step in range(9)]}], ids=str)
@pytest.mark.parametrize("shuffle", [True, False])
def test_every_sample_comes_once_and_shows_what_it_should(
    truth: DatasetTruth, windows: dict[str, list[float]], shuffle: bool
) -> None:
    samples = list(streaming(truth, delta_timestamps=windows, shuffle=shuffle, buffer_size=30))
    for sample in samples:
        require_true(truth, sample, windows)
    assert Counter(keys(samples)) == Counter(truth.samples())
    assert (keys(samples) == list(truth.samples())) is not shuffle


def test_pictures_are_floats_unless_asked_otherwise(truth: DatasetTruth) -> None:
    whole = next(iter(streaming(truth)))
    parts = next(iter(StreamingDataset(truth.folder)))
    assert whole[FRONT].dtype == torch.uint8
    assert parts[FRONT].dtype == torch.float32
    assert parts[FRONT].shape == (3, 64, 64)
    assert torch.equal(parts[FRONT], whole[FRONT] / 255)


@pytest.mark.parametrize(("workers", "method"), [(1, "fork"), (2, "fork"), (4, "fork"), (2, "spawn")])
def test_workers_give_each_sample_once(truth: DatasetTruth, workers: int, method: str) -> None:
    dataset = streaming(truth, delta_timestamps=WINDOWS, threads=2)
    next(iter(dataset))  # decoders open in the parent, with their threads, are no worker's
    samples = list(loader(dataset, workers, multiprocessing_context=method))
    for sample in samples:
        require_true(truth, sample, WINDOWS)
    assert Counter(keys(samples)) == Counter(truth.samples())


@pytest.mark.parametrize(("ranks", "workers"), [(2, 1), (3, 4), (7, 9)])
def test_ranks_and_workers_share_without_loss_or_repetition(truth: DatasetTruth, ranks: int, workers: int) -> None:
    sizes = []
    seen: Counter[tuple[int, int]] = Counter()
    for rank in range(ranks):
        dataset = streaming(truth, rank=rank, world_size=ranks, delta_timestamps=WINDOWS)
        for worker in range(workers):
            mine = keys(dataset._iterate(0, worker, workers, 0))
            sizes.append(len(mine))
            seen.update(mine)
    assert seen == Counter(truth.samples())
    assert max(sizes) - min(sizes) <= 2


def test_rank_and_world_size_come_from_the_launcher(truth: DatasetTruth, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    launched = streaming(truth)
    assert (launched.rank, launched.world_size) == (1, 2)
    assert keys(launched) == keys(streaming(truth, rank=1, world_size=2))
    assert streaming(truth, rank=0, world_size=1).world_size == 1


def test_same_seed_same_order(truth: DatasetTruth) -> None:
    first = keys(streaming(truth, seed=7))
    assert keys(streaming(truth, seed=7)) == first
    assert keys(streaming(truth, seed=8)) != first
    dataset = streaming(truth, seed=7)
    assert keys(loader(dataset, 2)) == keys(loader(dataset, 2))


def test_each_epoch_has_its_order_in_persistent_workers_too(truth: DatasetTruth) -> None:
    dataset = streaming(truth)
    alone = []
    for epoch in range(2):
        dataset.set_epoch(epoch)
        alone.append(keys(dataset))
    assert alone[0] != alone[1]
    kept = loader(dataset, 1, persistent_workers=True)
    for epoch in (1, 0, 1):
        dataset.set_epoch(epoch)
        assert keys(kept) == alone[epoch]


def test_episodes_can_be_chosen(truth: DatasetTruth) -> None:
    dataset = streaming(truth, episodes=[4, 1])
    assert (dataset.num_episodes, dataset.num_frames) == (2, LENGTHS[4] + LENGTHS[1])
    assert Counter(keys(dataset)) == Counter((e, frame) for e in (4, 1) for frame in range(LENGTHS[e]))


@pytest.mark.parametrize("windows", [None, {FRONT: [-1.0, 0.0, 1.0], WRIST: [-1.0, 0.0, 1.0]}], ids=["single", "sarm"])
def test_a_frame_is_decoded_once_for_all_samples_that_show_it(
    truth: DatasetTruth, windows: dict[str, list[float]] | None
) -> None:
    dataset = streaming(truth, delta_timestamps=windows)
    for _ in dataset:
        pass
    done = dataset.statistics
    assert done.frames_delivered == FRAMES * len(CAMERAS) * (3 if windows else 1)
    # Each comb also needs its episode's first and last frame, which pad it.
    assert FRAMES * len(CAMERAS) <= done.frames_decoded <= FRAMES * len(CAMERAS) * (1.25 if windows else 1)


def test_memory_of_pictures_is_used_again(truth: DatasetTruth) -> None:
    dataset = streaming(truth, buffer_size=10)
    for epoch in range(3):
        dataset.set_epoch(epoch)
        for _ in dataset:
            pass
    held = sum(len(free) for free in dataset._maker._pool._free.values())
    assert held <= (10 + dataset._limits.step_frames + 8) * len(CAMERAS)


def test_a_sample_is_the_callers_own(truth: DatasetTruth) -> None:
    samples = list(streaming(truth, delta_timestamps=WINDOWS, buffer_size=2))
    kept = copy.deepcopy(samples[0])
    for sample in samples[1:]:
        for value in sample.values():
            if isinstance(value, torch.Tensor):
                value.zero_()
    for name, value in kept.items():
        assert torch.equal(samples[0][name], value) if isinstance(value, torch.Tensor) else samples[0][name] == value


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"delta_timestamps": {"left": [0.0]}}, "names 'left'"),
        ({"delta_timestamps": {FRONT: []}}, "has 0 steps"),
        ({"delta_timestamps": {FRONT: [0.05]}}, "0.05 s is no whole number of frames at 10 fps"),
        ({"delta_timestamps": {FRONT: [float("nan")]}}, "nan s is no whole number"),
        ({"episodes": []}, "from 0 to 4"),
        ({"episodes": [5]}, "from 0 to 4"),
        ({"episodes": [1, 1]}, "from 0 to 4"),
        ({"buffer_size": 0}, "buffer_size is 0"),
        ({"on_damage": "ignore"}, "'raise' or 'skip'"),
        ({"rank": 2, "world_size": 2}, "rank 2 of world_size 2"),
    ],
    ids=str,
)
def test_settings_that_do_not_fit_are_refused(truth: DatasetTruth, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(DatasetError) as caught:
        streaming(truth, **settings)
    assert said in str(caught.value)


def test_a_launcher_that_says_nonsense_is_refused(truth: DatasetTruth, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "two")
    with pytest.raises(DatasetError, match="WORLD_SIZE='two'"):
        streaming(truth)


def test_something_must_be_named() -> None:
    with pytest.raises(DatasetError, match=r"root .* or repo_id"):
        StreamingDataset()


def test_statistics_and_timing_tell_where_the_time_went(truth: DatasetTruth) -> None:
    dataset = streaming(truth, timing=True)
    spent = torch.stack([sample[TIMING] for sample in dataset]).sum(dim=0)
    done = dataset.statistics
    assert (done.samples, done.skipped) == (FRAMES, 0)
    assert done.video_decoder_cache.hits > done.video_decoder_cache.misses > 0
    assert spent[0] >= spent[1] + spent[2] > 0
    assert float(spent[1]) == pytest.approx(done.decode_s)
    assert float(spent[2]) == pytest.approx(done.fetch_s, rel=0.1)


def test_a_data_set_without_cameras_is_streamed_too(truth: DatasetTruth, tmp_path: Path) -> None:
    folder = changed_copy(truth, tmp_path / "copy")

    def blind(info: dict[str, Any]) -> None:
        for name in truth.keys:
            del info["features"][name]

    change_info(folder, blind)
    assert Counter(keys(StreamingDataset(folder))) == Counter(truth.samples())
