"""The streaming loader: every sample once and the right one, whatever the topology; reproducible; resumable."""

from __future__ import annotations

import copy
import json
import pickle
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small_dataset import CAMERAS, FPS, LENGTHS, change_info, change_table, changed_copy, small_dataset
from torch.utils.data import DataLoader

from pytest_videodecode.datasets.truth import DatasetTruth
from pytest_videodecode.production.dataset_errors import (
    DatasetError,
    LoaderStateError,
    UnreadableClipError,
    UnreadableClipWarning,
)
from pytest_videodecode.production.loader_state import LoaderProgress
from pytest_videodecode.production.streaming import TIMING, StreamingDataset

FRONT, WRIST = (f"observation.images.{camera}" for camera in CAMERAS)
#: A window of seconds for one camera, two neighbouring frames for the other, actions to come.
WINDOWS = {FRONT: [-2.0, -1.0, 0.0, 1.0], WRIST: [-0.1, 0.0], "action": [0.0, 0.1, 0.2]}
FRAMES = sum(LENGTHS)

#: torch says so of every machine with fewer cores than workers.
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> DatasetTruth:
    return small_dataset(tmp_path_factory.mktemp("data") / "set")


@pytest.fixture(autouse=True)
def _no_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)


def streaming(truth: DatasetTruth, **settings: Any) -> StreamingDataset:
    return StreamingDataset(truth.folder, **({"return_uint8": True, "decoder_cache_size": 4} | settings))


def key(sample: dict[str, Any]) -> tuple[int, int]:
    return int(sample["episode_index"]), int(sample["frame_index"])


def keys(samples: Iterable[dict[str, Any]]) -> list[tuple[int, int]]:
    return [key(sample) for sample in samples]


def loader(dataset: StreamingDataset, workers: int, **settings: Any) -> DataLoader[dict[str, Any]]:
    """Batches of one sample, as it is."""
    return DataLoader(dataset, batch_size=None, num_workers=workers, **settings)


def batch_keys(batch: dict[str, Any]) -> list[tuple[int, int]]:
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
    dataset = streaming(truth, delta_timestamps=WINDOWS)
    next(iter(dataset))  # decoders open in the parent are no worker's
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
    held = sum(len(free) for free in dataset._pool._free.values())
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


# Resuming


@pytest.mark.parametrize("taken", [0, 1, 40, FRAMES - 1, FRAMES])
def test_an_epoch_is_taken_up_where_it_was_left(truth: DatasetTruth, taken: int) -> None:
    dataset = streaming(truth, delta_timestamps=WINDOWS)
    dataset.set_epoch(3)
    whole = keys(dataset)
    iterator = iter(dataset)
    for _ in range(taken):
        next(iterator)
    state = json.loads(json.dumps(dataset.state_dict()))
    again = streaming(truth, delta_timestamps=WINDOWS)
    again.load_state_dict(state)
    rest = list(again)
    assert keys(rest) == whole[taken:]
    for sample in rest:
        require_true(truth, sample, WINDOWS)
    again.set_epoch(3)
    assert keys(again) == whole


@pytest.mark.parametrize("batches", [1, 5, 8])
def test_a_loader_with_workers_is_taken_up_where_it_was_left(truth: DatasetTruth, batches: int) -> None:
    def load(dataset: StreamingDataset) -> DataLoader[dict[str, Any]]:
        return DataLoader(dataset, batch_size=7, num_workers=3)

    dataset = streaming(truth, positions=True)
    whole = [batch_keys(batch) for batch in load(dataset)]
    progress = LoaderProgress(dataset, num_workers=3)
    first = [batch_keys(batch) for _, batch in zip(range(batches), progress.watch(load(dataset)), strict=False)]
    state = json.loads(json.dumps(progress.state_dict()))
    again = streaming(truth, positions=True)
    again.load_state_dict(state)
    progress = LoaderProgress(again, num_workers=3)
    second = [batch_keys(batch) for _, batch in zip(range(3), progress.watch(load(again)), strict=False)]
    assert first == whole[:batches]
    assert second == whole[batches : batches + 3]
    last = streaming(truth, positions=True)
    last.load_state_dict(progress.state_dict())
    assert [batch_keys(batch) for batch in load(last)] == whole[batches + 3 :]
    assert [batch_keys(batch) for batch in load(last)] == whole, "a state is of one epoch only"


def test_a_worker_tells_and_takes_its_own_state(truth: DatasetTruth) -> None:
    """As torchdata's StatefulDataLoader does it: ``state_dict`` in the worker, given back to the worker of that number."""
    dataset = streaming(truth)
    whole = keys(dataset._iterate(0, 1, 2, 0))
    iterator = dataset._iterate(0, 1, 2, 0)
    for _ in range(5):
        next(iterator)
    state = dataset.state_dict()
    assert (state["workers"], state["drawn"]) == (2, {"1": 5})
    again = streaming(truth)
    again.load_state_dict(state)
    assert keys(again._iterate(0, 1, 2, again._resume.drawn[1] if again._resume else 0)) == whole[5:]


def test_a_state_of_something_else_is_refused(truth: DatasetTruth) -> None:
    state = streaming(truth).state_dict()
    for settings in ({"seed": 1}, {"delta_timestamps": WINDOWS}, {"buffer_size": 5}, {"episodes": [0]}):
        with pytest.raises(LoaderStateError, match="another data set, or of other"):
            streaming(truth, **settings).load_state_dict(state)
    with pytest.raises(LoaderStateError, match="rank 0 of 1, this is rank 1 of 2"):
        streaming(truth, rank=1, world_size=2).load_state_dict(state)
    for broken in ({}, {**state, "version": 9}, {**state, "drawn": {"x": 1}}, {**state, "epoch": "1"}, []):
        with pytest.raises(LoaderStateError, match="no state of version"):
            streaming(truth).load_state_dict(broken)  # type: ignore[arg-type]


def test_a_state_of_other_workers_is_refused(truth: DatasetTruth) -> None:
    dataset = streaming(truth)
    dataset.load_state_dict(dataset.state_dict())
    with pytest.raises(LoaderStateError, match=r"of 1 worker\(s\), this DataLoader has 2"):
        next(iter(loader(dataset, 2)))


def test_the_main_process_does_not_make_up_a_state_of_its_workers(truth: DatasetTruth) -> None:
    dataset = streaming(truth)
    iterator = iter(loader(dataset, 1))
    next(iterator)
    with pytest.raises(LoaderStateError, match="LoaderProgress"):
        dataset.state_dict()
    with pytest.raises(LoaderStateError, match="positions=True"):
        LoaderProgress(dataset, num_workers=1).update(next(iterator))


# Damage


@pytest.fixture
def damaged(truth: DatasetTruth, tmp_path: Path) -> tuple[DatasetTruth, str]:
    """The data set with a spoiled middle of the mp4 that shows episodes 2 and 3 to the front camera."""
    folder = changed_copy(truth, tmp_path / "copy")
    path = f"videos/{FRONT}/chunk-000/file-001.mp4"
    content = bytearray((folder / path).read_bytes())
    start = content.index(b"mdat") + 4
    middle = start + (len(content) - start) // 2
    content[middle : middle + 40] = bytes(range(200, 240))
    (folder / path).write_bytes(content)
    return DatasetTruth(str(folder), truth.spec), path


def test_damage_is_raised_by_name(damaged: tuple[DatasetTruth, str]) -> None:
    truth, path = damaged
    with pytest.raises(UnreadableClipError, match=path) as caught:
        list(streaming(truth))
    assert caught.value.__cause__ is not None
    assert "\n" not in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    with pytest.raises(UnreadableClipError, match=path):
        list(loader(streaming(truth), 1))


@pytest.mark.parametrize("windows", [{}, WINDOWS])
def test_damage_is_skipped_and_counted(damaged: tuple[DatasetTruth, str], windows: dict[str, list[float]]) -> None:
    truth, path = damaged
    dataset = streaming(truth, on_damage="skip", delta_timestamps=windows)
    with pytest.warns(UnreadableClipWarning, match=path) as warned:
        samples = list(dataset)
    for sample in samples:
        require_true(truth, sample, windows)
    assert len(warned) == 1
    lost = Counter(truth.samples()) - Counter(keys(samples))
    assert {episode for episode, _ in lost} <= {2, 3}
    assert 0 < len(lost) == FRAMES - len(samples) == dataset.statistics.skipped
    assert dataset.statistics.unreadable_clips == (path,)
    if not windows:
        assert len(lost) < LENGTHS[2], "the frames before the damage are there"


def test_skipping_gives_the_same_samples_for_any_workers(damaged: tuple[DatasetTruth, str]) -> None:
    truth, _ = damaged
    dataset = streaming(truth, on_damage="skip", delta_timestamps=WINDOWS)
    with pytest.warns(UnreadableClipWarning):
        alone = keys(dataset)
    shared = []
    for worker in range(3):
        part = streaming(truth, on_damage="skip", delta_timestamps=WINDOWS)
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnreadableClipWarning)
            shared += keys(part._iterate(0, worker, 3, 0))
    assert Counter(shared) == Counter(alone)


def test_a_missing_clip_is_never_skipped(truth: DatasetTruth, tmp_path: Path) -> None:
    folder = changed_copy(truth, tmp_path / "copy")
    dataset = StreamingDataset(folder, on_damage="skip")
    (folder / f"videos/{WRIST}/chunk-000/file-001.mp4").unlink()
    with pytest.raises(FileNotFoundError, match=r"file-001\.mp4"):
        list(dataset)


def test_a_later_clip_of_another_rate_is_refused(truth: DatasetTruth, tmp_path: Path) -> None:
    folder = changed_copy(truth, tmp_path / "copy")
    other = small_dataset(tmp_path / "other", fps=20)
    path = f"videos/{FRONT}/chunk-000/file-002.mp4"
    (folder / path).write_bytes((Path(other.folder) / path).read_bytes())
    with pytest.raises(DatasetError, match=r"file-002\.mp4 has 20 frames a second"):
        list(StreamingDataset(folder, on_damage="skip"))


def test_a_task_that_is_not_there_is_refused(truth: DatasetTruth, tmp_path: Path) -> None:
    folder = changed_copy(truth, tmp_path / "copy")
    change_table(folder / "meta/tasks.parquet", lambda table: table.slice(0, 1))
    with pytest.raises(DatasetError, match=r"task_index 1, meta/tasks\.parquet has 1"):
        list(StreamingDataset(folder))


# Settings


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
    with pytest.raises(DatasetError, match="root .* or repo_id"):
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
