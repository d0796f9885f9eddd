from __future__ import annotations

from pathlib import Path

import pytest

from pytest_videodecode.datasets.make import make_dataset
from pytest_videodecode.datasets.truth import DatasetTruth

LENGTHS = (5, 8, 3, 6, 4)


@pytest.fixture(scope="session")
def truth(tmp_path_factory: pytest.TempPathFactory) -> DatasetTruth:
    """Two cameras, five episodes of unequal length, two of them in an mp4, two data files, two files in a chunk."""
    folder = tmp_path_factory.mktemp("data sets") / "made"
    return make_dataset(
        folder, episodes=5, frames_per_episode=LENGTHS, size=(96, 64), data_files=2, chunks_size=2, seed=7
    )


@pytest.fixture(scope="session")
def folder(truth: DatasetTruth) -> Path:
    return Path(truth.folder)
