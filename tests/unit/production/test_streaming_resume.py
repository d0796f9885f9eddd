"""An epoch is taken up where it was left, with worker processes and without."""

from __future__ import annotations

import json
from typing import Any

import pytest
from small_dataset import small_dataset
from streamed import FRAMES, WINDOWS, batch_keys, keys, loader, require_true, streaming
from torch.utils.data import DataLoader

from pytest_videodecode.datasets.truth import DatasetTruth
from pytest_videodecode.production.layout.errors import LoaderStateError
from pytest_videodecode.production.loading.state import LoaderProgress
from pytest_videodecode.production.streaming import StreamingDataset

#: torch says so of every machine with fewer cores than workers.
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> DatasetTruth:
    return small_dataset(tmp_path_factory.mktemp("data") / "set")


@pytest.mark.parametrize("taken", [0, 1, 40, FRAMES - 1, FRAMES])
def test_an_epoch_is_taken_up_where_it_was_left(truth: DatasetTruth, taken: int) -> None:
    dataset = streaming(truth, delta_timestamps=WINDOWS)
    dataset.set_epoch(3)
    whole = keys(dataset)
    iterator = iter(dataset)
    for _ in range(taken):
        next(iterator)
    state = json.loads(json.dumps(dataset.state_dict()))
    again = streaming(truth, delta_timestamps=WINDOWS)
    again.load_state_dict(state)
    rest = list(again)
    assert keys(rest) == whole[taken:]
    for sample in rest:
        require_true(truth, sample, WINDOWS)
    again.set_epoch(3)
    assert keys(again) == whole


@pytest.mark.parametrize("batches", [1, 5, 8])
def test_a_loader_with_workers_is_taken_up_where_it_was_left(truth: DatasetTruth, batches: int) -> None:
    def load(dataset: StreamingDataset) -> DataLoader[dict[str, Any]]:
        return DataLoader(dataset, batch_size=7, num_workers=3)

    dataset = streaming(truth, positions=True)
    whole = [batch_keys(batch) for batch in load(dataset)]
    progress = LoaderProgress(dataset, num_workers=3)
    first = [batch_keys(batch) for _, batch in zip(range(batches), progress.watch(load(dataset)), strict=False)]
    state = json.loads(json.dumps(progress.state_dict()))
    again = streaming(truth, positions=True)
    again.load_state_dict(state)
    progress = LoaderProgress(again, num_workers=3)
    second = [batch_keys(batch) for _, batch in zip(range(3), progress.watch(load(again)), strict=False)]
    assert first == whole[:batches]
    assert second == whole[batches : batches + 3]
    last = streaming(truth, positions=True)
    last.load_state_dict(progress.state_dict())
    assert [batch_keys(batch) for batch in load(last)] == whole[batches + 3 :]
    assert [batch_keys(batch) for batch in load(last)] == whole, "a state is of one epoch only"


def test_a_worker_tells_and_takes_its_own_state(truth: DatasetTruth) -> None:
    """As torchdata's StatefulDataLoader has it: the state is taken in a worker and given back to that worker."""
    dataset = streaming(truth)
    whole = keys(dataset._iterate(0, 1, 2, 0))
    iterator = dataset._iterate(0, 1, 2, 0)
    for _ in range(5):
        next(iterator)
    state = dataset.state_dict()
    assert (state["workers"], state["drawn"]) == (2, {"1": 5})
    again = streaming(truth)
    again.load_state_dict(state)
    assert keys(again._iterate(0, 1, 2, again._resume.drawn[1] if again._resume else 0)) == whole[5:]


def test_a_state_of_something_else_is_refused(truth: DatasetTruth) -> None:
    state = streaming(truth).state_dict()
    for settings in ({"seed": 1}, {"delta_timestamps": WINDOWS}, {"buffer_size": 5}, {"episodes": [0]}):
        with pytest.raises(LoaderStateError, match="another data set, or of other"):
            streaming(truth, **settings).load_state_dict(state)
    with pytest.raises(LoaderStateError, match="rank 0 of 1, this is rank 1 of 2"):
        streaming(truth, rank=1, world_size=2).load_state_dict(state)
    broken: list[Any] = [{}, {**state, "version": 9}, {**state, "drawn": {"x": 1}}, {**state, "epoch": "1"}, []]
    for other in broken:
        with pytest.raises(LoaderStateError, match="no state of version"):
            streaming(truth).load_state_dict(other)


def test_a_state_of_other_workers_is_refused(truth: DatasetTruth) -> None:
    dataset = streaming(truth)
    dataset.load_state_dict({**dataset.state_dict(), "workers": 2})
    with pytest.raises(LoaderStateError, match=r"of 2 worker\(s\), this DataLoader has 1"):
        iter(dataset)


def test_the_main_process_does_not_make_up_a_state_of_its_workers(truth: DatasetTruth) -> None:
    dataset = streaming(truth)
    next(iter(dataset))
    iterator = iter(loader(dataset, 1))
    next(iterator)
    with pytest.raises(LoaderStateError, match="LoaderProgress"):
        dataset.state_dict()
    with pytest.raises(LoaderStateError, match="positions=True"):
        LoaderProgress(dataset, num_workers=1).update(next(iterator))
