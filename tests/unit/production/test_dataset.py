"""Opening a data set: what is there is found, what lies is refused in one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_dataset import CAMERAS, FPS, LENGTHS, change_info, change_table, changed_copy, small_dataset

from pytest_videodecode.datasets.make import write_dataset
from pytest_videodecode.datasets.spec import DatasetSpec
from pytest_videodecode.datasets.truth import DatasetTruth
from pytest_videodecode.production.dataset import open_dataset
from pytest_videodecode.production.layout.episodes import read_episodes
from pytest_videodecode.production.layout.errors import DatasetError, UnreadableClipError
from pytest_videodecode.production.layout.info import path_of, read_info
from pytest_videodecode.production.sources.local import LocalSource

EPISODES = "meta/episodes/chunk-000/file-000.parquet"
DATA = "data/chunk-000/file-000.parquet"


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> DatasetTruth:
    return small_dataset(tmp_path_factory.mktemp("data") / "set")


@pytest.fixture
def copy(truth: DatasetTruth, tmp_path: Path) -> Path:
    return changed_copy(truth, tmp_path / "copy")


def test_metadata_is_read(truth: DatasetTruth) -> None:
    dataset = open_dataset(truth.folder)
    assert dataset.info.fps == FPS
    assert dataset.info.cameras == truth.keys
    assert dataset.episodes.lengths.tolist() == list(LENGTHS)
    assert dataset.tasks == ("read the mark", "read the mark again")
    assert dataset.keyframe_interval == 2
    path, start = dataset.clip(3, truth.keys[1])
    assert path == f"videos/observation.images.{CAMERAS[1]}/chunk-000/file-001.mp4"
    assert start == pytest.approx(LENGTHS[2] / FPS)


@pytest.mark.parametrize("row_groups", ["of an episode each", "one", "of 7 rows"])
def test_rows_are_those_of_the_episode(truth: DatasetTruth, copy: Path, row_groups: str) -> None:
    if row_groups != "of an episode each":
        import pyarrow.parquet as pq

        for path in (copy / "data").rglob("*.parquet"):
            pq.write_table(pq.read_table(path), path, row_group_size=7 if row_groups == "of 7 rows" else 10**6)
    reader = open_dataset(copy).row_reader()
    for episode in (4, 0, 2, 3, 1, 0):
        rows = reader.rows(episode)
        for name, expected in truth.row(episode, LENGTHS[episode] - 1).items():
            assert len(rows[name]) == LENGTHS[episode]
            np.testing.assert_array_equal(rows[name][-1], expected)


def test_rows_read_last_are_kept_and_no_more(truth: DatasetTruth) -> None:
    dataset = open_dataset(truth.folder)
    from pytest_videodecode.production.layout.rows import RowReader

    reader = RowReader(dataset.files, dataset.info, dataset.episodes, keep_bytes=1)
    first = reader.rows(0)
    assert reader.rows(0) is first
    reader.rows(4)
    assert reader.rows(0) is not first


def test_keyframe_interval_is_looked_up_where_it_is_not_noted(truth: DatasetTruth, copy: Path) -> None:
    def forget(info: dict[str, Any]) -> None:
        for key in truth.keys:
            del info["features"][key]["info"]

    change_info(copy, forget)
    assert open_dataset(copy).keyframe_interval == 2


def test_ten_thousand_episodes_are_read(tmp_path: Path) -> None:
    spec = DatasetSpec(cameras=CAMERAS, lengths=(2,) * 10_000, episodes_per_file=50)
    write_dataset(spec, tmp_path / "set", meta_only=True)
    source = LocalSource(tmp_path / "set")
    episodes = read_episodes(source, read_info(source))
    assert len(episodes) == 10_000
    assert episodes.starts[-1] == 19_998


INFO_LIES: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "version 2": (lambda info: info.update(codebase_version="v2.1"), "codebase_version 'v2.1'"),
    "no version": (lambda info: info.pop("codebase_version"), "codebase_version None"),
    "no fps": (lambda info: info.update(fps=0), "fps 0"),
    "fps of another kind": (lambda info: info.update(fps=True), "fps True"),
    "fps of none": (lambda info: info.update(fps=float("nan")), "fps nan"),
    "frames": (lambda info: info.update(total_frames=105), "lists 104 frames, meta/info.json says 105"),
    "episodes": (lambda info: info.update(total_episodes=6), "lists 5 episodes"),
    "fps": (lambda info: info.update(fps=12), "12 fps"),
    "no features": (lambda info: info.update(features={}), "no features"),
    "feature without type": (lambda info: info["features"].update(x={"shape": [1]}), "'x' has dtype None"),
    "feature of objects": (
        lambda info: info["features"].update(x={"dtype": "object", "shape": [1]}),
        "dtype 'object'",
    ),
    "huge feature": (lambda info: info["features"].update(x={"dtype": "int8", "shape": [2**30, 2**30]}), "has shape"),
    "no index": (lambda info: info["features"].pop("index"), "no feature index"),
    "another size": (
        lambda info: info["features"]["observation.images.front"].update(shape=[32, 64, 3]),
        "is 64x64, meta/info.json says 64x32",
    ),
    "path upwards": (lambda info: info.update(video_path="../{file_index}.mp4"), "leads out of the data set"),
    "absolute path": (lambda info: info.update(video_path="/{file_index}.mp4"), "leads out of the data set"),
    "attribute": (lambda info: info.update(video_path="{file_index.__class__}"), "is no template"),
    "item": (lambda info: info.update(video_path="{video_key[0]}"), "is no template"),
    "width": (lambda info: info.update(video_path="{file_index:999999999d}"), "is no template"),
    "nested": (lambda info: info.update(video_path="{file_index:{chunk_index}}"), "is no template"),
    "conversion": (lambda info: info.update(video_path="{file_index!r}"), "is no template"),
    "unknown key": (lambda info: info.update(data_path="{video_key}"), "is no template"),
    "open brace": (lambda info: info.update(data_path="{file_index"), "is no template"),
    "no path": (lambda info: info.update(video_path=None), "no video_path"),
}


@pytest.mark.parametrize("lie", INFO_LIES)
def test_info_that_lies_is_refused(copy: Path, lie: str) -> None:
    change, said = INFO_LIES[lie]
    change_info(copy, change)
    with pytest.raises(DatasetError) as caught:
        open_dataset(copy)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("key", ["../../etc", "a/../../b", "/etc", "a\\b", "a\0b"])
def test_a_camera_key_leads_nowhere(key: str) -> None:
    with pytest.raises(DatasetError, match="leads out"):
        path_of("videos/{video_key}/file-{file_index:03d}.mp4", video_key=key, file_index=0)


@pytest.mark.parametrize("content", [b"", b"[1]", b"{", b"\xff\xfe", b"[" * 100_000])
def test_info_that_is_no_json_object_is_refused(copy: Path, content: bytes) -> None:
    (copy / "meta/info.json").write_bytes(content)
    with pytest.raises(DatasetError, match=r"info\.json is no JSON"):
        open_dataset(copy)


def test_a_folder_that_is_no_data_set_is_refused(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(DatasetError, match="no LeRobot v3 data set"):
            open_dataset(folder)


def _replaced(name: str, change: Callable[[list[Any]], list[Any]]) -> Callable[[Any], Any]:
    def replace(table: Any) -> Any:
        import pyarrow as pa

        at = table.schema.get_field_index(name)
        return table.set_column(at, name, pa.array(change(table.column(name).to_pylist())))

    return replace


TABLE_LIES: dict[str, tuple[str, Callable[[Any], Any], str]] = {
    "no lengths": (EPISODES, lambda table: table.drop_columns(["length"]), "no column length"),
    "lengths as text": (EPISODES, _replaced("length", lambda old: [str(n) for n in old]), "holds string, not int64"),
    "a length missing": (EPISODES, _replaced("length", lambda old: [None, *old[1:]]), "empty places"),
    "another length": (EPISODES, _replaced("length", lambda old: [24, *old[1:]]), "episode 0 has length 24"),
    "no length": (EPISODES, _replaced("length", lambda old: [0, *old[1:]]), "length 0"),
    "an episode twice": (
        EPISODES,
        _replaced("episode_index", lambda _: [0, 1, 1, 3, 4]),
        "no single row for episode 2",
    ),
    "no episodes": (EPISODES, lambda table: table.slice(0, 0), "the data set is empty"),
    "a video elsewhere": (
        EPISODES,
        _replaced("videos/observation.images.front/to_timestamp", lambda old: [old[0] + 1, *old[1:]]),
        "33.0 frames at 10 fps",
    ),
    "a file of no number": (EPISODES, _replaced("data/file_index", lambda old: [-1, *old[1:]]), "negative"),
    "tasks without names": ("meta/tasks.parquet", lambda table: table.drop_columns(["task"]), "no column task"),
    "tasks without numbers": ("meta/tasks.parquet", _replaced("task_index", lambda _: [1, 2]), "does not number"),
}


@pytest.mark.parametrize("lie", TABLE_LIES)
def test_metadata_tables_that_lie_are_refused(copy: Path, lie: str) -> None:
    path, change, said = TABLE_LIES[lie]
    change_table(copy / path, change)
    with pytest.raises(DatasetError) as caught:
        open_dataset(copy)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


ROW_LIES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "no actions": (lambda table: table.drop_columns(["action"]), "no column action"),
    "a row less": (lambda table: table.slice(1), "has 31 rows, its 2 episodes have 32 frames"),
    "actions as numbers": (_replaced("action", lambda old: [1.0] * len(old)), "rows of (2,)"),
    "actions as text": (_replaced("action", lambda old: ["x"] * len(old)), "holds string"),
    "frames out of order": (_replaced("frame_index", lambda old: old[::-1]), "has frame_index"),
    "another episode's": (_replaced("episode_index", lambda old: [7] * len(old)), "has episode_index 7"),
    "time of another rate": (_replaced("timestamp", lambda old: [t * 1.2 for t in old]), "another frame's"),
}


@pytest.mark.parametrize("lie", ROW_LIES)
def test_rows_that_lie_are_refused(copy: Path, lie: str) -> None:
    change, said = ROW_LIES[lie]
    change_table(copy / DATA, change)
    with pytest.raises(DatasetError) as caught:
        open_dataset(copy).row_reader().rows(0)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("path", [EPISODES, "meta/tasks.parquet", DATA])
@pytest.mark.parametrize("content", [b"", b"PAR1", b"x" * 1000])
def test_a_file_that_is_no_parquet_is_refused(copy: Path, path: str, content: bytes) -> None:
    (copy / path).write_bytes(content)
    with pytest.raises(DatasetError, match="no parquet file"):
        open_dataset(copy).row_reader().rows(0)


@pytest.mark.parametrize("path", ["meta/tasks.parquet", DATA])
def test_a_missing_file_is_named(copy: Path, path: str) -> None:
    (copy / path).unlink()
    with pytest.raises(DatasetError, match=path):
        open_dataset(copy).row_reader().rows(0)


def test_a_missing_mp4_is_named_with_its_episode(copy: Path) -> None:
    (copy / "videos/observation.images.wrist/chunk-000/file-001.mp4").unlink()
    with pytest.raises(
        DatasetError, match=r"no videos/observation\.images\.wrist/chunk-000/file-001\.mp4.* episode 2"
    ):
        open_dataset(copy)


def test_an_mp4_of_another_rate_is_refused(truth: DatasetTruth, tmp_path: Path) -> None:
    other = small_dataset(tmp_path / "other", fps=20)
    folder = changed_copy(truth, tmp_path / "copy")
    path = "videos/observation.images.front/chunk-000/file-000.mp4"
    (folder / path).write_bytes((Path(other.folder) / path).read_bytes())
    with pytest.raises(DatasetError, match=r"has 20 frames a second, meta/info\.json says 10"):
        open_dataset(folder)


def test_an_mp4_that_is_none_is_named(copy: Path) -> None:
    path = "videos/observation.images.front/chunk-000/file-000.mp4"
    (copy / path).write_bytes(b"no video")
    with pytest.raises(UnreadableClipError, match=path):
        open_dataset(copy)


def test_data_may_lie_elsewhere(truth: DatasetTruth, copy: Path) -> None:
    for folder in ("data", "videos"):
        (copy / folder).rename(copy / f"no {folder}")
    dataset = open_dataset(copy, data_files_root=truth.folder)
    assert len(dataset.row_reader().rows(0)["index"]) == LENGTHS[0]
