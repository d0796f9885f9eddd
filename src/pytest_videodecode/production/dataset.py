"""A LeRobot v3 data set: opened from a folder or a URL, checked, and asked where things are."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from pytest_videodecode.production.layout.clip_facts import read_clip_facts, require_matching
from pytest_videodecode.production.layout.episodes import Episodes, read_episodes, video_paths
from pytest_videodecode.production.layout.errors import DatasetError
from pytest_videodecode.production.layout.info import INFO, DatasetInfo, path_of, read_info
from pytest_videodecode.production.layout.parquet import ParquetFile
from pytest_videodecode.production.layout.rows import REQUIRED, RowReader
from pytest_videodecode.production.sources.local import LocalSource, Source

TASKS = "meta/tasks.parquet"
#: The column that holds a task's name: pandas writes it as an index, with a name or without.
_TASK_COLUMNS = ("task", "__index_level_0__")
_MAX_TASKS = 10_000_000


@dataclass(frozen=True)
class Dataset:
    """A data set whose metadata is read and found consistent.

    ``source`` holds ``meta/``, ``files`` holds ``data/`` and ``videos/``; mostly they are the same.
    ``keyframe_interval`` is in frames, the largest of the cameras'; 1 without cameras.
    """

    source: Source
    files: Source
    info: DatasetInfo
    episodes: Episodes
    tasks: tuple[str, ...]
    keyframe_interval: int

    def row_reader(self) -> RowReader:
        """A reader of rows, for one process."""
        return RowReader(self.files, self.info, self.episodes)

    def clip(self, episode: int, camera: str) -> tuple[str, float]:
        """The path of the mp4 that shows ``episode``, and the time (s) in it at which the episode starts."""
        places = self.episodes.videos[camera]
        chunk, file = int(places.chunks[episode]), int(places.files[episode])
        path = path_of(self.info.video_path, video_key=camera, chunk_index=chunk, file_index=file)
        return path, float(places.starts[episode])


def open_dataset(
    root: str | os.PathLike[str], *, revision: str | None = None, data_files_root: str | os.PathLike[str] | None = None
) -> Dataset:
    """The LeRobot v3 data set at ``root``, a folder or a URL that fsspec knows (``hf://datasets/OWNER/NAME``).

    ``data_files_root`` is where ``data/`` and ``videos/`` are, if not below ``root``. Only metadata is read, and the
    start of one mp4 per camera.

    Raises:
        DatasetError: it is no LeRobot v3 data set, an empty one, one whose metadata contradict each other, that lacks
            a file, or whose videos have another frame rate or size than it says.
        VideoReadError: the source cannot be reached, or an mp4 cannot be opened.
    """
    source = _source(root, revision)
    files = source if data_files_root is None else _source(data_files_root, None)
    info = read_info(source)
    if missing := [name for name in REQUIRED if name not in info.columns]:
        raise DatasetError(f"{source.description}: {INFO} has no feature {', '.join(missing)}; restore it")
    episodes = read_episodes(source, info)
    tasks = _read_tasks(source)
    _require_videos(files, info, episodes)
    return Dataset(source, files, info, episodes, tasks, _keyframe_interval(files, info, episodes))


def _source(root: str | os.PathLike[str], revision: str | None) -> Source:
    text = os.fspath(root)
    if "://" not in text:
        return LocalSource(text)
    from pytest_videodecode.production.sources.remote import open_source

    return open_source(text, revision=revision)


def _read_tasks(source: Source) -> tuple[str, ...]:
    file = ParquetFile(source, TASKS)
    if file.rows > _MAX_TASKS:
        raise DatasetError(f"{file.name} has {file.rows} tasks, more than {_MAX_TASKS}")
    name = next((name for name in _TASK_COLUMNS if name in file.columns), _TASK_COLUMNS[0])
    columns = file.read(("task_index", name))
    numbers: list[int] = file.numbers(columns["task_index"], "task_index", "int64").tolist()
    texts: list[Any] = columns[name].to_pylist()
    if sorted(numbers) != list(range(len(numbers))):
        raise DatasetError(f"{file.name} does not number its tasks from 0 to {len(numbers) - 1}; restore it")
    return tuple(str(text) for _, text in sorted(zip(numbers, texts, strict=True)))


def _require_videos(files: Source, info: DatasetInfo, episodes: Episodes) -> None:
    there = set(files.files("videos"))
    for path, episode in video_paths(info, episodes).items():
        # A video_path of another shape than usual may lie outside videos/.
        if path not in there and not files.exists(path):
            raise DatasetError(
                f"{files.description}: no {path}, which holds episode {episode}; restore it, or remove the episode"
            )


def _keyframe_interval(files: Source, info: DatasetInfo, episodes: Episodes) -> int:
    """What ``info`` notes, else what the first mp4 of each camera shows; each is checked against ``info`` besides."""
    intervals = [1]
    for camera, places in episodes.videos.items():
        first = path_of(
            info.video_path, video_key=camera, chunk_index=int(places.chunks[0]), file_index=int(places.files[0])
        )
        facts = read_clip_facts(files.video(first), f"{files.description}: {first}")
        require_matching(facts, info, camera)
        intervals.append(info.features[camera].keyframe_interval or facts.keyframe_interval)
    return max(intervals)
