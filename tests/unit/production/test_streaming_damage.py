"""Damaged and missing clips: named, skipped or raised, and never the end of a share."""

from __future__ import annotations

import pickle
import warnings
from collections import Counter
from pathlib import Path

import pytest
from small_dataset import LENGTHS, change_table, changed_copy, small_dataset
from streamed import FRAMES, FRONT, WINDOWS, WRIST, keys, loader, require_true, streaming

from pytest_videodecode.datasets.truth import DatasetTruth
from pytest_videodecode.production.layout.errors import DatasetError, UnreadableClipError, UnreadableClipWarning
from pytest_videodecode.production.streaming import StreamingDataset

#: torch says so of every machine with fewer cores than workers.
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> DatasetTruth:
    return small_dataset(tmp_path_factory.mktemp("data") / "set")


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
