"""Synthetic data sets, small enough for every test to have one of its own, and copies of them that lie."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pytest_videodecode.datasets.make import make_dataset
from pytest_videodecode.datasets.truth import DatasetTruth

#: Several episodes to an mp4 and several mp4 to a camera; lengths that no block fits evenly.
LENGTHS = (23, 9, 40, 1, 31)
CAMERAS = ("front", "wrist")
FPS = 10


def small_dataset(folder: Path, **changes: Any) -> DatasetTruth:
    """Five episodes of 104 frames seen by two cameras, 64x64 AV1 with a keyframe every other frame."""
    settings: dict[str, Any] = {
        "cameras": CAMERAS,
        "episodes": len(LENGTHS),
        "frames_per_episode": LENGTHS,
        "fps": FPS,
        "size": (64, 64),
        "episodes_per_file": 2,
        "data_files": 2,
        "textured": False,
    }
    return make_dataset(folder, **(settings | changes))


def changed_copy(truth: DatasetTruth, folder: Path) -> Path:
    """A copy of the data set in ``folder``, to be damaged."""
    shutil.copytree(truth.folder, folder)
    return folder


def change_info(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Have ``change`` edit ``meta/info.json`` in place."""
    path = folder / "meta/info.json"
    info = json.loads(path.read_text())
    change(info)
    path.write_text(json.dumps(info))


def change_table(path: Path, change: Callable[[Any], Any]) -> None:
    """Have ``change`` make another table of the one in a parquet file."""
    import pyarrow.parquet as pq

    pq.write_table(change(pq.read_table(path)), path)
