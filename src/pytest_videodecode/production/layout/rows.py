"""The rows of an episode: every feature that is no video, one value a frame."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import numpy as np

from pytest_videodecode.production.layout.episodes import Episodes
from pytest_videodecode.production.layout.errors import DatasetError
from pytest_videodecode.production.layout.info import INFO, DatasetInfo, path_of
from pytest_videodecode.production.layout.parquet import ParquetFile
from pytest_videodecode.production.sources.local import Source

#: By feature, the episode's values in the order of frames: an array, or a list of texts.
Rows = Mapping[str, Any]

#: The columns that every LeRobot v3 data set has.
REQUIRED = ("timestamp", "frame_index", "episode_index", "index", "task_index")

_OPEN_FILES = 8


class RowReader:
    """Reads rows by episode and keeps what was read last, up to ``keep_bytes``. For one process and one thread."""

    def __init__(self, source: Source, info: DatasetInfo, episodes: Episodes, keep_bytes: int = 256 * 1024**2) -> None:
        self._source, self._info, self._episodes = source, info, episodes
        self._keep = keep_bytes
        self._bytes = 0
        self._kept: OrderedDict[int, tuple[Rows, int]] = OrderedDict()
        self._files: OrderedDict[tuple[int, int], tuple[ParquetFile, dict[int, int]]] = OrderedDict()

    def rows(self, episode: int) -> Rows:
        """The rows of ``episode``.

        Raises:
            DatasetError: the file is missing or damaged, lacks columns, has another number of rows than the episodes
                in it have frames, or its rows are not those of the episode.
        """
        if episode not in self._kept:
            self._load(episode)
        self._kept.move_to_end(episode)
        return self._kept[episode][0]

    def _load(self, episode: int) -> None:
        """Reads the row groups that hold ``episode``, and with it all other episodes that lie in them whole."""
        file, places = self._file(episode)
        lengths = self._episodes.lengths
        first, last = places[episode], places[episode] + int(lengths[episode])
        ends = np.cumsum(file.group_rows)
        groups = range(int(np.searchsorted(ends, first, "right")), int(np.searchsorted(ends, last, "left")) + 1)
        start, end = int(ends[groups[0]]) - file.group_rows[groups[0]], int(ends[groups[-1]])
        columns = file.read(self._info.columns, groups)
        values = {name: self._values(file, name, column) for name, column in columns.items()}
        inside = [other for other, at in places.items() if start <= at and at + int(lengths[other]) <= end]
        # The one asked for comes last: it must not make room for its neighbours.
        for other in sorted(inside, key=lambda other: other == episode):
            at = places[other] - start
            self._put(other, {name: column[at : at + int(lengths[other])].copy() for name, column in values.items()})

    def _put(self, episode: int, rows: dict[str, Any]) -> None:
        self._require_rows_of(episode, rows)
        size = sum(64 * len(column) if isinstance(column, list) else column.nbytes for column in rows.values())
        if episode in self._kept:
            self._bytes -= self._kept.pop(episode)[1]
        self._kept[episode] = rows, size
        self._bytes += size
        while self._bytes > self._keep and len(self._kept) > 1:
            self._bytes -= self._kept.popitem(last=False)[1][1]

    def _file(self, episode: int) -> tuple[ParquetFile, dict[int, int]]:
        """The file that holds ``episode``, with the row at which each of its episodes starts."""
        table = self._episodes
        key = chunk, number = int(table.data_chunks[episode]), int(table.data_files[episode])
        if key not in self._files:
            path = path_of(self._info.data_path, chunk_index=chunk, file_index=number)
            file = ParquetFile(self._source, path)
            file.require(self._info.columns)
            inside = np.flatnonzero((table.data_chunks == chunk) & (table.data_files == number))
            ends = np.cumsum(table.lengths[inside])
            if int(ends[-1]) != file.rows:
                raise DatasetError(
                    f"{file.name} has {file.rows} rows, its {len(inside)} episodes have {ends[-1]} frames by "
                    "meta/episodes; restore them"
                )
            starts = (ends - table.lengths[inside]).tolist()
            self._files[key] = file, dict(zip(inside.tolist(), starts, strict=True))
            if len(self._files) > _OPEN_FILES:
                self._files.popitem(last=False)
        self._files.move_to_end(key)
        return self._files[key]

    def _values(self, file: ParquetFile, name: str, column: Any) -> Any:
        feature = self._info.features[name]
        if feature.dtype == "string":
            return [str(text) for text in column.to_pylist()]
        return file.numbers(column, name, feature.dtype, feature.shape)

    def _require_rows_of(self, episode: int, rows: Rows) -> None:
        frames = np.arange(int(self._episodes.lengths[episode]))
        expected = {
            "episode_index": np.full(len(frames), episode),
            "frame_index": frames,
            "index": frames + int(self._episodes.starts[episode]),
        }
        for name, values in expected.items():
            if wrong := np.flatnonzero(rows[name] != values).tolist():
                raise DatasetError(
                    f"{self._source.description}: row {wrong[0]} of episode {episode} has {name} "
                    f"{rows[name][wrong[0]]}, not {values[wrong[0]]}; restore data/"
                )
        late = np.abs(rows["timestamp"] - frames / self._info.fps) > 0.5 / self._info.fps
        if wrong := np.flatnonzero(late).tolist():
            raise DatasetError(
                f"{self._source.description}: frame {wrong[0]} of episode {episode} has timestamp "
                f"{rows['timestamp'][wrong[0]]:g} s, which is another frame's at the {self._info.fps:g} fps of {INFO}"
            )
