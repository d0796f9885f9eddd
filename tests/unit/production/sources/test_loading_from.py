"""A whole epoch from a Hub that fails now and then: the samples of the local folder, each once."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hub_server import Fault, serve

from pytest_videodecode.datasets.make import make_dataset
from pytest_videodecode.production.streaming import StreamingDataset

FAULTS = [Fault(503), Fault(), Fault(cut_after=100), Fault(before_answer=True), Fault(429, {"Retry-After": "0"})]


@pytest.mark.parametrize("kind", ["dataset", "bucket"])
def test_no_sample_is_lost_or_doubled(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)
    truth = make_dataset(tmp_path / "made", episodes=3, frames_per_episode=(4, 6, 5), size=(64, 64), codec="h264")
    with serve(tmp_path / "made") as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        hub.faults[:] = FAULTS * 2
        samples = []
        for sample in StreamingDataset(root=getattr(hub, kind)):
            episode, frame = int(sample["episode_index"]), int(sample["frame_index"])
            for camera, key in enumerate(truth.keys):
                assert truth.read(sample[key]) == [(episode, camera, frame)]
            samples.append((episode, frame))
        assert sorted(samples) == list(truth.samples())
        assert hub.faults == []
