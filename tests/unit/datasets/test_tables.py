from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pytest_videodecode.datasets.make import write_dataset
from pytest_videodecode.datasets.spec import DatasetSpec
from pytest_videodecode.datasets.tables import EPISODES, TASKS
from pytest_videodecode.datasets.truth import DatasetTruth


def test_info_describes_what_is_there(truth: DatasetTruth, folder: Path) -> None:
    info = json.loads((folder / "meta/info.json").read_text())
    assert (info["codebase_version"], info["fps"]) == ("v3.0", 20)
    assert (info["total_episodes"], info["total_frames"], info["total_tasks"]) == (5, 26, 2)
    videos = [name for name, feature in info["features"].items() if feature["dtype"] == "video"]
    assert videos == list(truth.keys) == ["observation.images.front", "observation.images.wrist"]
    assert info["features"][videos[0]]["shape"] == [64, 96, 3]
    rest = set(info["features"]) - set(videos)
    path = info["data_path"].format(chunk_index=0, file_index=0)
    assert set(pq.read_schema(folder / path).names) == rest


def test_data_files_hold_every_frame_once_in_order(truth: DatasetTruth, folder: Path) -> None:
    files = sorted(folder.glob("data/*/*.parquet"))
    rows = [row for file in files for row in pq.read_table(file).to_pylist()]
    assert len(files) == 2
    assert [row["index"] for row in rows] == list(range(truth.frames))
    assert [(row["episode_index"], row["frame_index"]) for row in rows] == list(truth.samples())
    assert [row["observation.state"][:2] for row in rows] == [list(sample) for sample in truth.samples()]
    assert [row["timestamp"] for row in rows[5:8]] == pytest.approx([0, 0.05, 0.1])


def test_each_episode_is_a_row_group(folder: Path) -> None:
    file = pq.ParquetFile(folder / "data/chunk-000/file-000.parquet")
    assert [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)] == [5, 8]


def test_episodes_name_files_that_are_there_and_times_within_them(truth: DatasetTruth, folder: Path) -> None:
    info = json.loads((folder / "meta/info.json").read_text())
    for row in pq.read_table(folder / EPISODES).to_pylist():
        assert row["dataset_to_index"] - row["dataset_from_index"] == row["length"]
        assert row["tasks"] == ["read the mark" if row["episode_index"] % 2 == 0 else "read the mark again"]
        data = info["data_path"].format(chunk_index=row["data/chunk_index"], file_index=row["data/file_index"])
        assert (folder / data).is_file()
        for key in truth.keys:
            chunk, file = (row[f"videos/{key}/{name}_index"] for name in ("chunk", "file"))
            assert (folder / info["video_path"].format(video_key=key, chunk_index=chunk, file_index=file)).is_file()
            first, last = (row[f"videos/{key}/{name}_timestamp"] for name in ("from", "to"))
            assert last - first == pytest.approx(row["length"] / 20)
    assert (chunk, file, first) == (1, 0, 0.0)  # the fifth episode, alone in the third file, two of which fill a chunk


def test_task_names_are_the_index_of_a_data_frame(folder: Path) -> None:
    table = pq.read_table(folder / TASKS)
    assert table.to_pydict() == {"task_index": [0, 1], "task": ["read the mark", "read the mark again"]}
    assert json.loads(table.schema.metadata[b"pandas"])["index_columns"] == ["task"]


def test_metadata_of_many_episodes_needs_no_video(tmp_path: Path) -> None:
    write_dataset(DatasetSpec(lengths=(2,) * 10_000, episodes_per_file=50), tmp_path / "many", meta_only=True)
    assert {path.name for path in (tmp_path / "many").iterdir()} == {"meta"}
    table = pq.read_table(tmp_path / "many" / EPISODES, columns=["dataset_to_index"])
    assert table.column(0)[-1].as_py() == 20_000
