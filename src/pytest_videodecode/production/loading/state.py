"""Where an epoch stands: how far each worker's share has been drawn, and the way from a DataLoader's batches to that.

The order of a share depends only on numbers (``order``), so a count of draws per worker is the whole state, and
an epoch is taken up again by drawing as often without decoding. Worker processes run ahead of what their DataLoader
has handed out, so their own counts are of no use to the main process: it counts what came, by the positions that
samples carry (``LoaderProgress``). torchdata's StatefulDataLoader does that itself, with the ``state_dict`` that it
takes from the data set in each worker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_videodecode.production.layout.errors import LoaderStateError

#: The key under which samples carry the worker that drew them and how many it had drawn then.
POSITION = "stream_position"
VERSION = 1


@dataclass(frozen=True)
class LoaderState:
    """Draws by worker. ``identity`` is that of data set and settings, ``turn`` the worker whose batch comes next."""

    identity: str
    epoch: int
    rank: int
    world_size: int
    workers: int
    drawn: Mapping[int, int] = field(default_factory=dict)
    turn: int = 0

    def as_dict(self) -> dict[str, Any]:
        """The state as builtin types, fit for JSON and for ``torch.save``."""
        return {
            "version": VERSION,
            "identity": self.identity,
            "epoch": self.epoch,
            "rank": self.rank,
            "world_size": self.world_size,
            "workers": self.workers,
            "drawn": {str(worker): count for worker, count in self.drawn.items()},
            "turn": self.turn,
        }

    @classmethod
    def from_dict(cls, state: Mapping[str, Any], expected: LoaderState) -> LoaderState:
        """The state that ``as_dict`` made.

        Raises:
            LoaderStateError: it is none, or one of another data set, other settings or another rank than ``expected``.
        """
        numbers = ("epoch", "rank", "world_size", "workers", "turn")
        drawn = state.get("drawn") if isinstance(state, Mapping) else None
        if (
            not isinstance(drawn, Mapping)
            or state.get("version") != VERSION
            or not all(_is_count(state.get(name)) for name in numbers)
            or not all(str(worker).isdecimal() and _is_count(count) for worker, count in drawn.items())
        ):
            raise LoaderStateError(
                f"this is no state of version {VERSION} of a StreamingDataset; begin the epoch anew"
            )
        if state.get("identity") != expected.identity:
            raise LoaderStateError(
                "the state is of another data set, or of other episodes, windows, buffer, seed or shuffle; make the "
                "StreamingDataset as it was made then"
            )
        if (state["rank"], state["world_size"]) != (expected.rank, expected.world_size):
            raise LoaderStateError(
                f"the state is of rank {state['rank']} of {state['world_size']}, this is rank {expected.rank} of "
                f"{expected.world_size}; load that rank's own state"
            )
        return cls(
            identity=expected.identity,
            **{name: state[name] for name in numbers},
            drawn={int(worker): count for worker, count in drawn.items()},
        )


class LoaderProgress:
    """Counts what a DataLoader hands out; made before the DataLoader is iterated, one for each epoch.

    ``for batch in LoaderProgress(dataset).watch(loader)``. The data set must be made with ``positions=True``.
    """

    def __init__(self, dataset: Any, num_workers: int) -> None:
        self._start: dict[str, Any] = dataset.start_state(max(num_workers, 1))
        self._drawn: dict[str, int] = dict(self._start["drawn"])
        self._turn: int = self._start["turn"]

    def watch(self, loader: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        """The batches of ``loader``, counted as they are handed on."""
        for batch in loader:
            self.update(batch)
            yield batch

    def update(self, batch: Mapping[str, Any]) -> None:
        """Count one batch (or one sample).

        Raises:
            LoaderStateError: its samples carry no positions.
        """
        if POSITION not in batch:
            raise LoaderStateError("samples carry no position; make the StreamingDataset with positions=True")
        worker, drawn = batch[POSITION].reshape(-1, 2)[-1].tolist()
        self._drawn[str(worker)] = drawn
        self._turn = (worker + 1) % int(self._start["workers"])

    def state_dict(self) -> dict[str, Any]:
        """The state after the last batch counted, for ``StreamingDataset.load_state_dict``."""
        return {**self._start, "drawn": dict(self._drawn), "turn": self._turn}


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0
