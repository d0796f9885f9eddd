"""``meta/info.json`` of a LeRobot v3 data set, read as what it is: a file that nobody vouches for."""

from __future__ import annotations

import json
import math
import re
import string
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_videodecode.production.layout.errors import DatasetError, DatasetFileMissingError
from pytest_videodecode.production.sources.local import Source

INFO = "meta/info.json"

_MAX_INFO_BYTES = 16 * 1024 * 1024
_MAX_FPS = 10_000
_VERSION = re.compile(r"v3\.\d{1,3}")
_FORMAT = re.compile(r"(0?\d{1,2}d)?")
_NUMBERS = {"chunk_index", "file_index"}
_TYPES = re.compile(r"(float|u?int)(8|16|32|64)|bool|string|video")


@dataclass(frozen=True)
class Feature:
    """One column of samples. ``shape`` is that of a sample's value: (H,W,3) or (3,H,W) where ``dtype`` is ``video``.

    ``keyframe_interval`` is the frames from one keyframe to the next as the writer noted it, None if it did not.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    keyframe_interval: int | None = None

    @property
    def is_camera(self) -> bool:
        return self.dtype == "video"

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of a camera's pictures."""
        height, width = self.shape[:2] if self.shape[2] == 3 else self.shape[1:]
        return height, width


@dataclass(frozen=True)
class DatasetInfo:
    """What ``meta/info.json`` says. ``fps`` is in frames a second; paths are templates for ``path``."""

    fps: float
    total_episodes: int
    total_frames: int
    features: Mapping[str, Feature]
    data_path: str
    video_path: str

    @property
    def cameras(self) -> tuple[str, ...]:
        """The names of the features that are videos."""
        return tuple(name for name, feature in self.features.items() if feature.is_camera)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the features that stand in the data parquet files."""
        return tuple(name for name, feature in self.features.items() if not feature.is_camera)


def read_info(source: Source) -> DatasetInfo:
    """The info of the data set in ``source``.

    Raises:
        DatasetError: there is none, it is of another version, or it says what cannot be.
    """
    where = f"{source.description}: {INFO}"
    try:
        size = source.size(INFO)
    except DatasetFileMissingError:
        raise DatasetError(
            f"{source.description}: no LeRobot v3 data set, it has no {INFO}; give the folder or URL that holds meta/"
        ) from None
    if size > _MAX_INFO_BYTES:
        raise DatasetError(f"{where} has {size} bytes, more than the {_MAX_INFO_BYTES} read here")
    try:
        content = json.loads(source.read_bytes(INFO))
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{where} is no JSON ({error}); restore it") from None
    if not isinstance(content, dict):
        raise DatasetError(f"{where} is no JSON object; restore it")
    version = content.get("codebase_version")
    if not (isinstance(version, str) and _VERSION.fullmatch(version)):
        raise DatasetError(f"{where} says codebase_version {version!r:.60}; convert the data set to LeRobot's v3.0")
    fps = content.get("fps")
    if isinstance(fps, bool) or not isinstance(fps, (int, float)) or not 0 < fps <= _MAX_FPS:
        raise DatasetError(f"{where} says fps {fps!r:.60}; it must be a number above 0, {_MAX_FPS} at most")
    features = _features(content.get("features"), where)
    return DatasetInfo(
        fps=float(fps),
        total_episodes=_count(content, "total_episodes", where),
        total_frames=_count(content, "total_frames", where),
        features=features,
        data_path=_template(content, "data_path", _NUMBERS, where),
        video_path=_template(content, "video_path", {*_NUMBERS, "video_key"}, where)
        if any(feature.is_camera for feature in features.values())
        else "",
    )


def path_of(template: str, **values: str | int) -> str:
    """A path below the root from a template of ``DatasetInfo``.

    Raises:
        DatasetError: it leads out of the root.
    """
    # Only names and formats that ``_template`` has let pass are in it, so nothing but text and digits gets in here.
    path = template.format(**values)
    if path.startswith("/") or "\\" in path or "\0" in path or {"", ".", ".."} & set(path.split("/")):
        raise DatasetError(f"path {path!r:.120} leads out of the data set; correct {INFO}")
    return path


def _count(content: dict[str, Any], name: str, where: str) -> int:
    value = content.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise DatasetError(f"{where} says {name} {value!r:.60}; it must be a whole number, 0 or more")
    return value


def _template(content: dict[str, Any], name: str, known: set[str], where: str) -> str:
    value = content.get(name)
    if not isinstance(value, str):
        raise DatasetError(f"{where} has no {name}; it must be text such as data/chunk-{{chunk_index:03d}}/…")
    try:
        parts = list(string.Formatter().parse(value))
    except ValueError as error:
        raise DatasetError(f"{where}: {name} {value!r:.120} is no template ({error})") from None
    for _, field, form, conversion in parts:
        if field is None:
            continue
        allowed = form == "" if field == "video_key" else _FORMAT.fullmatch(form or "")
        if field not in known or conversion or not allowed:
            raise DatasetError(
                f"{where}: {name} {value!r:.120} is no template; use {', '.join(sorted(known))}, as in "
                "{file_index:03d}"
            )
    return value


def _features(content: Any, where: str) -> dict[str, Feature]:
    if not isinstance(content, dict) or not content:
        raise DatasetError(f"{where} has no features; restore it")
    features = {}
    for name, value in content.items():
        said = value if isinstance(value, dict) else {}
        dtype: Any = said.get("dtype")
        shape: Any = said.get("shape")
        if not isinstance(dtype, str) or not _TYPES.fullmatch(dtype):
            raise DatasetError(
                f"{where}: feature {name!r:.80} has dtype {dtype!r:.40}; numbers, bool, string and video can be read"
            )
        whole = isinstance(shape, list) and all(type(side) is int and 0 < side < 2**31 for side in shape)
        is_picture = whole and len(shape) == 3 and 3 in (shape[0], shape[2])
        if not whole or math.prod(shape) > 2**31 or (dtype == "video" and not is_picture):
            raise DatasetError(f"{where}: feature {name!r:.80} of dtype {dtype} has shape {shape!r:.60}")
        notes = said.get("info") or said.get("video_info") or {}
        interval = notes.get("video.g") if isinstance(notes, dict) else None
        features[name] = Feature(
            name, dtype, tuple(shape), interval if type(interval) is int and interval > 0 else None
        )
    return features
