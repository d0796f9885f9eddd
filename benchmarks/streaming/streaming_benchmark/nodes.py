"""Which process of how many this is, and how the processes meet.

``torchrun`` and ``accelerate launch`` say it by environment variables. The processes meet at the key-value store
that these launchers start or name (``MASTER_ADDR``, ``MASTER_PORT``): no process group, no device, text only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from streaming_benchmark.errors import BenchmarkError

_PREFIX = "videodecode/streaming"
_FAILED = "failed: "


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """One process among all: ``rank`` of ``world_size``, on ``node`` of ``nodes``, ``local_rank`` there."""

    rank: int = 0
    world_size: int = 1
    local_rank: int = 0
    local_world_size: int = 1
    node: int = 0
    nodes: int = 1

    @property
    def leads_node(self) -> bool:
        """Whether this process writes its node's file."""
        return self.local_rank == 0


def place(environment: Mapping[str, str]) -> Place:
    """The place that a launcher's variables name; the only one without them.

    Raises:
        BenchmarkError: variables that are no numbers or do not fit each other.
    """
    if "MASTER_ADDR" in environment and "RANK" not in environment:
        raise BenchmarkError(
            "MASTER_ADDR is set and RANK is not, so this process does not know its place; accelerate launch --cpu "
            "sets no RANK: use torchrun, or accelerate launch --multi_gpu; on one node alone unset MASTER_ADDR"
        )
    rank, world = _whole(environment, "RANK", 0), _whole(environment, "WORLD_SIZE", 1)
    local = _whole(environment, "LOCAL_WORLD_SIZE", 1)
    local_rank = _whole(environment, "LOCAL_RANK", 0)
    if not (rank < world and local and world % local == 0 and local_rank < local):
        raise BenchmarkError(
            f"RANK={rank}, WORLD_SIZE={world}, LOCAL_RANK={local_rank}, LOCAL_WORLD_SIZE={local} do not fit; start "
            "every process by accelerate launch or torchrun, equally many on each node"
        )
    return Place(
        rank=rank,
        world_size=world,
        local_rank=local_rank,
        local_world_size=local,
        node=rank // local,
        nodes=world // local,
    )


class Meeting:
    """Where all processes of a benchmark wait for each other, and hand over what they noted."""

    def __init__(self, here: Place, timeout_s: float) -> None:
        self._here = here
        self._timeout_s = timeout_s
        self._store: Any = None
        if here.world_size > 1:
            from torch.distributed.rendezvous import rendezvous

            try:
                limit = timedelta(seconds=timeout_s)
                self._store, _, _ = next(iter(rendezvous("env://", here.rank, here.world_size, timeout=limit)))
                self._store.set_timeout(limit)
            except (ValueError, RuntimeError) as error:  # torch's DistError is a RuntimeError
                raise BenchmarkError(f"rank {here.rank} found no meeting point: {_first_line(error)}") from None

    def wait(self, name: str) -> None:
        """Return when all processes have come here.

        Raises:
            BenchmarkError: when one fails, or does not come in time.
        """
        self.share(name, "here")
        self.collect(name, range(self._here.world_size))

    def fail(self, said: str) -> None:
        """Have everybody who waits for this process, now or later, end with what it said; and leave."""
        for name in ("start", "noted"):
            self.share(name, _FAILED + said)
        self.leave()

    def leave(self) -> None:
        """Let the others finish: the first process keeps the store alive until all have said that they go."""
        self.share("end", "gone")
        if self._here.rank == 0:
            self.collect("end", range(self._here.world_size))

    def share(self, name: str, text: str) -> None:
        """Leave a text for the others."""
        if self._store is not None:
            self._store.set(f"{_PREFIX}/{name}/{self._here.rank}", text)

    def collect(self, name: str, ranks: Sequence[int]) -> list[str]:
        """What the processes of ``ranks`` left under ``name``; empty where there is no other process.

        Raises:
            BenchmarkError: naming the one that failed, or left nothing in time.
        """
        if self._store is None:
            return []
        texts = []
        for rank in ranks:
            try:
                texts.append(self._store.get(f"{_PREFIX}/{name}/{rank}").decode())
            except (RuntimeError, ValueError):
                raise BenchmarkError(
                    f"rank {rank} of {self._here.world_size} did not come to '{name}' in {self._timeout_s:g} s; "
                    "see what it says"
                ) from None
            if texts[-1].startswith(_FAILED):
                raise BenchmarkError(f"rank {rank} failed, so nothing is written: {texts[-1].removeprefix(_FAILED)}")
        return texts


def _whole(environment: Mapping[str, str], name: str, default: int) -> int:
    text = environment.get(name, str(default))
    if not (text.isascii() and text.isdigit()) or len(text) > 7:
        raise BenchmarkError(
            f"{name}={text!r} is no whole number; unset it, or start by accelerate launch or torchrun"
        )
    return int(text)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)[:300]
