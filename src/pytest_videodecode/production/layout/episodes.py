"""The episodes of a data set: how long each is, and where its rows and its videos lie."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_videodecode.production.layout.errors import DatasetError
from pytest_videodecode.production.layout.info import INFO, DatasetInfo, path_of
from pytest_videodecode.production.layout.parquet import ParquetFile
from pytest_videodecode.production.sources.local import Source

FOLDER = "meta/episodes"
_MAX_EPISODES = 50_000_000


@dataclass(frozen=True)
class VideoPlaces:
    """Of one camera, by episode: chunk and file number of the mp4, and the time (s) in it at which it starts."""

    chunks: NDArray[np.int64]
    files: NDArray[np.int64]
    starts: NDArray[np.float64]


@dataclass(frozen=True)
class Episodes:
    """By episode: its frames, the ``index`` of the first among all frames, the chunk and file of its rows."""

    lengths: NDArray[np.int64]
    starts: NDArray[np.int64]
    data_chunks: NDArray[np.int64]
    data_files: NDArray[np.int64]
    videos: Mapping[str, VideoPlaces]

    def __len__(self) -> int:
        return len(self.lengths)


def read_episodes(source: Source, info: DatasetInfo) -> Episodes:
    """All episodes, in the order of their index.

    Raises:
        DatasetError: files or columns are missing, or they do not agree with ``info`` or with one another.
    """
    paths = [path for path in source.files(FOLDER) if path.endswith(".parquet")]
    if not paths:
        raise DatasetError(f"{source.description}: no parquet file in {FOLDER}/; restore it")
    kinds = _columns(info)
    parts = []
    total = 0
    for path in paths:
        file = ParquetFile(source, path)
        total += file.rows
        if total > _MAX_EPISODES:
            raise DatasetError(f"{source.description}: more than {_MAX_EPISODES} episodes in {FOLDER}/")
        columns = file.read(list(kinds))
        parts.append({name: file.numbers(columns[name], name, kind) for name, kind in kinds.items()})
    joined = {name: np.concatenate([part[name] for part in parts]) for name in kinds}
    order = np.argsort(joined["episode_index"], kind="stable")
    table = {name: values[order] for name, values in joined.items()}
    _require_consistent(table, info, f"{source.description}: {FOLDER}")
    return Episodes(
        lengths=table["length"],
        starts=table["dataset_from_index"],
        data_chunks=table["data/chunk_index"],
        data_files=table["data/file_index"],
        videos={
            camera: VideoPlaces(
                chunks=table[f"videos/{camera}/chunk_index"],
                files=table[f"videos/{camera}/file_index"],
                starts=table[f"videos/{camera}/from_timestamp"],
            )
            for camera in info.cameras
        },
    )


def video_paths(info: DatasetInfo, episodes: Episodes) -> dict[str, int]:
    """The path of every mp4 with the first episode that lies in it, in the order of cameras and episodes."""
    found: dict[str, int] = {}
    for camera, places in episodes.videos.items():
        numbers = np.stack((places.chunks, places.files), axis=1)
        unique, first = np.unique(numbers, axis=0, return_index=True)
        for (chunk, file), episode in zip(unique.tolist(), first.tolist(), strict=True):
            path = path_of(info.video_path, video_key=camera, chunk_index=chunk, file_index=file)
            found.setdefault(path, episode)
    return found


def _columns(info: DatasetInfo) -> dict[str, str]:
    kinds = dict.fromkeys(
        ("episode_index", "length", "dataset_from_index", "dataset_to_index", "data/chunk_index", "data/file_index"),
        "int64",
    )
    for camera in info.cameras:
        kinds |= {f"videos/{camera}/{name}": "int64" for name in ("chunk_index", "file_index")}
        kinds |= {f"videos/{camera}/{name}_timestamp": "float64" for name in ("from", "to")}
    return kinds


def _require_consistent(table: Mapping[str, NDArray[Any]], info: DatasetInfo, where: str) -> None:
    indices, lengths = table["episode_index"], table["length"]
    if not len(indices) or not lengths.sum():
        raise DatasetError(f"{where} lists no frames: the data set is empty; record something first")
    if len(indices) != info.total_episodes:
        raise DatasetError(f"{where} lists {len(indices)} episodes, {INFO} says {info.total_episodes}; restore them")
    if wrong := np.flatnonzero(indices != np.arange(len(indices))).tolist():
        raise DatasetError(f"{where} has no single row for episode {wrong[0]}; restore it")
    if wrong := np.flatnonzero(lengths < 1).tolist():
        raise DatasetError(f"{where}: episode {wrong[0]} has length {lengths[wrong[0]]}; restore it")
    ends = np.cumsum(lengths)
    counted = (table["dataset_from_index"] == ends - lengths) & (table["dataset_to_index"] == ends)
    if wrong := np.flatnonzero(~counted).tolist():
        first, last = table["dataset_from_index"][wrong[0]], table["dataset_to_index"][wrong[0]]
        raise DatasetError(
            f"{where}: episode {wrong[0]} has length {lengths[wrong[0]]}, but spans index {first} to {last}; the "
            f"lengths before it make {ends[wrong[0]] - lengths[wrong[0]]}; restore it"
        )
    if ends[-1] != info.total_frames:
        raise DatasetError(f"{where} lists {ends[-1]} frames, {INFO} says {info.total_frames}; restore them")
    for name, values in table.items():
        if name.endswith(("chunk_index", "file_index")) and values.min() < 0:
            raise DatasetError(f"{where}: column {name} has a negative number; restore it")
    for camera in info.cameras:
        start, end = table[f"videos/{camera}/from_timestamp"], table[f"videos/{camera}/to_timestamp"]
        frames = (end - start) * info.fps
        fits = np.isfinite(start) & (start >= 0) & (np.abs(frames - lengths) < 0.5)
        if wrong := np.flatnonzero(~fits).tolist():
            shown = f"{start[wrong[0]]:g} to {end[wrong[0]]:g} s"
            about = f"{frames[wrong[0]]:.1f}" if math.isfinite(frames[wrong[0]]) else "no"
            raise DatasetError(
                f"{where}: episode {wrong[0]} has {lengths[wrong[0]]} frames, but its video of {camera} goes from "
                f"{shown}, which is {about} frames at {info.fps:g} fps; restore it"
            )
