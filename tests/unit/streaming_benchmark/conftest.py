"""One small data set serves all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_videodecode.datasets.make import make_dataset
from pytest_videodecode.datasets.truth import DatasetTruth


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> DatasetTruth:
    """Two cameras, 4 episodes of 24 frames at 2 frames a second: a window of 8 s fits."""
    folder = tmp_path_factory.mktemp("benchmark") / "dataset"
    return make_dataset(folder, episodes=4, frames_per_episode=24, fps=2, size=(64, 64), textured=False)


@pytest.fixture(autouse=True)
def no_launcher(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whoever runs the tests may run them under torchrun."""
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    return iter(())
