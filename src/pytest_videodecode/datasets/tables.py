"""The files of a LeRobot v3 data set that are no video: ``meta/`` and ``data/``.

The layout is that of ``codebase_version`` v3.0 as LeRobot 0.6.1 writes and reads it. Files are written in place: the
folder is a scratch one until all is there.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_videodecode import jsonform
from pytest_videodecode.datasets.spec import DatasetSpec, data_path

INFO, SPEC = "meta/info.json", "meta/videodecode.json"
EPISODES, TASKS, STATS = "meta/episodes/chunk-000/file-000.parquet", "meta/tasks.parquet", "meta/stats.json"

STATE = ("episode", "frame", "time")
ACTION = ("frame", "episode")
TASK_NAMES = ("read the mark", "read the mark again")
_DEFAULTS = {
    "timestamp": "float32",
    "frame_index": "int64",
    "episode_index": "int64",
    "index": "int64",
    "task_index": "int64",
}


def write_meta(spec: DatasetSpec, folder: Path) -> None:
    """Write ``meta/`` of ``spec`` below ``folder``."""
    _json(folder / INFO, info(spec))
    _json(folder / SPEC, jsonform.to_json(spec))
    _json(folder / STATS, _stats(spec))
    _write(folder / TASKS, _tasks())
    _write(folder / EPISODES, _episodes(spec))


def write_data(spec: DatasetSpec, folder: Path) -> None:
    """Write ``data/`` of ``spec`` below ``folder``: one row group for each episode, so that it can be read alone."""
    for number, group in enumerate(spec.data_groups):
        lengths = [spec.lengths[episode] for episode in group]
        _write(folder / data_path(*spec.place(number)), _frames(spec, group), lengths)


def info(spec: DatasetSpec) -> dict[str, Any]:
    """The content of ``meta/info.json``."""
    video = {
        "dtype": "video",
        "shape": [spec.height, spec.width, 3],
        "names": ["height", "width", "channels"],
        "info": {
            "video.height": spec.height,
            "video.width": spec.width,
            "video.codec": spec.codec,
            "video.pix_fmt": "yuv420p",
            "video.fps": spec.fps,
            "video.channels": 3,
            "video.g": spec.gop,
            "is_depth_map": False,
            "has_audio": False,
        },
    }
    features: dict[str, Any] = {
        "observation.state": {"dtype": "float32", "shape": [len(STATE)], "names": list(STATE)},
        "action": {"dtype": "float32", "shape": [len(ACTION)], "names": list(ACTION)},
    }
    features |= dict.fromkeys(spec.keys, video)
    features |= {name: {"dtype": dtype, "shape": [1], "names": None} for name, dtype in _DEFAULTS.items()}
    return {
        "codebase_version": "v3.0",
        "robot_type": "synthetic",
        "total_episodes": len(spec.lengths),
        "total_frames": spec.starts[-1],
        "total_tasks": len(TASK_NAMES),
        "chunks_size": spec.chunks_size,
        "data_files_size_in_mb": 100,
        "video_files_size_in_mb": 200,
        "fps": spec.fps,
        "splits": {"train": f"0:{len(spec.lengths)}"},
        "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
        "video_path": "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4",
        "features": features,
    }


def columns(spec: DatasetSpec, episodes: range) -> dict[str, NDArray[Any]]:
    """What the data parquet says of ``episodes``: each feature that is no video, one row a frame."""
    lengths = np.array([spec.lengths[episode] for episode in episodes])
    starts = np.array(spec.starts)
    numbers = np.arange(starts[episodes[0]], starts[episodes[-1] + 1], dtype=np.int64)
    episode = np.repeat(np.array(episodes, dtype=np.int64), lengths)
    frames = numbers - starts[episode]
    times = frames / spec.fps
    return {
        "observation.state": np.stack((episode, frames, times), axis=1).astype(np.float32),
        "action": np.stack((frames, episode), axis=1).astype(np.float32),
        "timestamp": times.astype(np.float32),
        "frame_index": frames,
        "episode_index": episode,
        "index": numbers,
        "task_index": episode % len(TASK_NAMES),
    }


def _frames(spec: DatasetSpec, episodes: range) -> Any:
    import pyarrow as pa

    arrays = {
        name: pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), values.shape[1])
        if values.ndim == 2
        else pa.array(values)
        for name, values in columns(spec, episodes).items()
    }
    return pa.table(arrays)


def _episodes(spec: DatasetSpec) -> Any:
    import pyarrow as pa

    count = len(spec.lengths)
    made: dict[str, Any] = {
        "episode_index": range(count),
        "tasks": [[TASK_NAMES[episode % len(TASK_NAMES)]] for episode in range(count)],
        "length": spec.lengths,
        "dataset_from_index": spec.starts[:-1],
        "dataset_to_index": spec.starts[1:],
    }
    placed = _placed(spec, spec.data_groups)
    starts = spec.starts
    made["data/chunk_index"], made["data/file_index"] = zip(*placed, strict=True)
    placed = _placed(spec, spec.video_groups)
    firsts = {episode: starts[group[0]] for group in spec.video_groups for episode in group}
    for key in spec.keys:
        made[f"videos/{key}/chunk_index"], made[f"videos/{key}/file_index"] = zip(*placed, strict=True)
        for name, ends in (("from", starts[:-1]), ("to", starts[1:])):
            times = [(ends[episode] - firsts[episode]) / spec.fps for episode in range(count)]
            made[f"videos/{key}/{name}_timestamp"] = times
    made["meta/episodes/chunk_index"] = made["meta/episodes/file_index"] = [0] * count
    return pa.table({name: pa.array(list(values)) for name, values in made.items()})


def _placed(spec: DatasetSpec, groups: tuple[range, ...]) -> list[tuple[int, int]]:
    return [spec.place(number) for number, group in enumerate(groups) for _ in group]


def _tasks() -> Any:
    import pyarrow as pa

    table = pa.table({"task_index": range(len(TASK_NAMES)), "task": list(TASK_NAMES)})
    # LeRobot reads the name of a task from the index of a data frame, which parquet keeps in this note.
    kinds = {"task_index": ("int64", "int64"), "task": ("unicode", "object")}
    described = [
        {"name": name, "field_name": name, "pandas_type": kind, "numpy_type": numpy, "metadata": None}
        for name, (kind, numpy) in kinds.items()
    ]
    note = {"index_columns": ["task"], "column_indexes": [], "columns": described, "pandas_version": "2.0.0"}
    return table.replace_schema_metadata({"pandas": json.dumps(note)})


def _stats(spec: DatasetSpec) -> dict[str, Any]:
    """Statistics of the columns; those of pictures are what is expected of them, not measured."""
    found = {}
    for name, column in columns(spec, range(len(spec.lengths))).items():
        values = column.reshape(len(column), -1).astype(np.float64)
        parts = {"min": values.min(0), "max": values.max(0), "mean": values.mean(0), "std": values.std(0)}
        found[name] = {part: value.tolist() for part, value in parts.items()} | {"count": [len(values)]}
    expected = {"min": 0.0, "max": 1.0, "mean": 0.5, "std": 0.25}
    picture = {part: [[[value]]] * 3 for part, value in expected.items()} | {"count": [spec.starts[-1]]}
    return found | dict.fromkeys(spec.keys, picture)


def _json(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=4) + "\n", encoding="utf-8")


def _write(path: Path, table: Any, row_groups: Sequence[int] = ()) -> None:
    """Write ``table``; ``row_groups`` are their numbers of rows, one group of all if empty."""
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    start = 0
    with pq.ParquetWriter(path, table.schema, compression="snappy") as writer:
        for rows in row_groups or (table.num_rows,):
            writer.write_table(table.slice(start, rows))
            start += rows
