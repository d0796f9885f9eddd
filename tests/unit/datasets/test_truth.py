from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from pytest_videodecode.datasets.truth import DatasetTruth, read_truth
from pytest_videodecode.errors import ClipError, FormError


def test_truth_is_read_back_from_the_folder(truth: DatasetTruth, folder: Path) -> None:
    assert read_truth(folder) == truth


def test_samples_are_all_frames_in_order(truth: DatasetTruth) -> None:
    samples = list(truth.samples())
    assert len(samples) == truth.frames == 26
    assert samples[:6] == [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (1, 0)]
    assert [int(truth.row(*sample)["index"]) for sample in samples] == list(range(26))


def test_row_tells_state_from_action(truth: DatasetTruth) -> None:
    row = truth.row(1, 3)
    assert row["observation.state"].tolist() == pytest.approx([1, 3, 0.15])
    assert row["action"].tolist() == [3, 1]
    assert int(row["task_index"]) == 1
    assert float(row["timestamp"]) == pytest.approx(0.15)


def test_window_is_clamped_to_its_episode_and_says_where(truth: DatasetTruth) -> None:
    shown, padding = truth.window(2, 1, (-2, -1, 0, 1, 2, 3))
    assert shown == [0, 0, 1, 2, 2, 2]
    assert np.flatnonzero(padding).tolist() == [0, 4, 5]


def test_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ClipError, match="no synthetic data set"):
        read_truth(tmp_path)


@pytest.mark.parametrize("change", [{"lengths": [0]}, {"width": 10**9}])
def test_recipe_that_cannot_be_is_refused(change: dict[str, object], folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "meta", tmp_path / "meta")
    path = tmp_path / "meta" / "videodecode.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ClipError, match=r"data set: .* not possible"):
        read_truth(tmp_path)
    path.write_text('{"colour": 1}')
    with pytest.raises(FormError, match="unknown field 'colour'"):
        read_truth(tmp_path)
