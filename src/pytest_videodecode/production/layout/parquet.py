"""Parquet files of a data set: read through its source, in bounded pieces, with types checked."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_videodecode.production.layout.errors import DatasetError
from pytest_videodecode.production.sources.local import Source

#: The most that one row group may take when it is unpacked.
MAX_GROUP_BYTES = 4 * 1024**3


class ParquetFile:
    """One parquet file, with its footer read.

    Raises (as do its methods):
        DatasetError: it is missing, no parquet file, or not of the form asked for.
    """

    def __init__(self, source: Source, path: str) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.name = f"{source.description}: {path}"
        self._faults = (pa.ArrowException, OSError, ValueError)
        try:
            # No read-ahead and no threads of pyarrow's: loader processes are many, and some of them forked.
            self._file = pq.ParquetFile(io.BufferedReader(_SourceFile(source, path)), pre_buffer=False)
        except DatasetError:
            raise
        except self._faults as error:
            raise DatasetError(f"{self.name} is no parquet file ({_line(error)}); restore it") from None
        metadata = self._file.metadata
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        self.group_rows = [int(group.num_rows) for group in groups]
        self.rows = sum(self.group_rows)
        self.columns = frozenset(self._file.schema_arrow.names)
        largest = max((group.total_byte_size for group in groups), default=0)
        if largest > MAX_GROUP_BYTES:
            raise DatasetError(f"{self.name} has a row group of {largest} bytes, more than the {MAX_GROUP_BYTES} read")

    def require(self, names: Sequence[str]) -> None:
        """Raise unless there is a column of each name."""
        if missing := [name for name in names if name not in self.columns]:
            raise DatasetError(
                f"{self.name} has no column {', '.join(missing[:5])}; restore it, or its meta/info.json"
            )

    def read(self, names: Sequence[str], groups: Sequence[int] | None = None) -> dict[str, Any]:
        """Columns as arrow arrays, whole or of some row groups; a column with nulls is an error."""
        self.require(names)
        chosen = range(len(self.group_rows)) if groups is None else groups
        try:
            table = self._file.read_row_groups(list(chosen), columns=list(names), use_threads=False)
            found = {name: table.column(name).combine_chunks() for name in names}
        except DatasetError:
            raise
        except self._faults as error:
            raise DatasetError(f"{self.name} cannot be read ({_line(error)}); restore it") from None
        for name, column in found.items():
            if column.null_count:
                raise DatasetError(f"{self.name}: column {name} has empty places; restore it")
        return found

    def numbers(self, column: Any, name: str, dtype: str, shape: tuple[int, ...] = (1,)) -> NDArray[Any]:
        """An arrow column as ``(rows, *shape)``, ``(rows,)`` where ``shape`` is (1,).

        A column of another kind (text, whole numbers for fractions) or with rows of another length is an error.
        """
        import pyarrow.types as kinds

        rows = len(column)
        while kinds.is_list(column.type) or kinds.is_large_list(column.type) or kinds.is_fixed_size_list(column.type):
            column = column.flatten()
        known = kinds.is_integer(column.type) or kinds.is_floating(column.type) or kinds.is_boolean(column.type)
        values = column.to_numpy(zero_copy_only=False) if known and not column.null_count else None
        wanted = np.dtype(dtype)
        if values is None or not _fits(values.dtype, wanted):
            raise DatasetError(f"{self.name}: column {name} holds {column.type}, not {dtype}; restore it")
        try:
            values = values.reshape((rows,) if shape == (1,) else (rows, *shape))
        except ValueError:
            raise DatasetError(
                f"{self.name}: column {name} has {len(values)} values in {rows} rows, not rows of {shape}"
            ) from None
        numbers: NDArray[Any] = values.astype(wanted, copy=False)
        return numbers


class _SourceFile(io.RawIOBase):
    """A file of a source as a seekable file object."""

    def __init__(self, source: Source, path: str) -> None:
        self._source, self._path = source, path
        self._size = source.size(path)
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def readinto(self, buffer: Any) -> int:
        end = min(self._at + len(buffer), self._size)
        content = self._source.read_bytes(self._path, self._at, end) if end > self._at else b""
        buffer[: len(content)] = content
        self._at += len(content)
        return len(content)


def _fits(have: np.dtype[Any], wanted: np.dtype[Any]) -> bool:
    """Whether numbers of one type may be taken for another: the same kind, in any width."""
    kinds = {"i": "iu", "u": "iu"}
    return have.kind in kinds.get(wanted.kind, wanted.kind)


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]
