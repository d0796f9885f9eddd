"""Seats that decode nothing: their times are drawn, and their clock is advanced by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pytest_videodecode.measurement import Seat


class NoisySeats:
    """One seat a decoder, which takes ``sample_s`` of wall and CPU time times its cost.

    ``wall_noise`` and ``cpu_noise`` are standard deviations of the logarithm, with heavy tails; ``drift`` is by how
    much a second makes everything slower; ``waits`` adds wall time, in samples, that takes no CPU.
    """

    def __init__(
        self,
        *costs: float,
        wall_noise: float = 0.0,
        cpu_noise: float = 0.0,
        drift: float = 0.0,
        waits: Sequence[float] = (0.0, 0.0),
        sample_s: float = 0.06,
        seed: int = 0,
    ) -> None:
        self.costs = costs
        self.played: list[int] = []
        self.now = 1000.0
        self.lost = ""
        self.digests = ["same"] * len(costs)
        self._noises = (wall_noise, cpu_noise)
        self._drift = drift
        self._waits = waits
        self._sample_s = sample_s
        self._rng = np.random.default_rng(seed)
        self._began = self.now

    def clock(self) -> float:
        """Seconds."""
        return self.now

    def seats(self, decoder: int, seconds: float, *, samples: int | None = None) -> list[Seat]:
        """One round, at once."""
        assert samples is not None
        self.played.append(decoder)
        slow = 1 + self._drift * (self.now - self._began)
        wall, cpu = (np.exp(noise * self._rng.standard_t(4) / 2**0.5) for noise in self._noises)
        latency = self._sample_s * slow * (self.costs[decoder] + self._waits[decoder]) * wall
        self.now += samples * latency
        seat = Seat(
            seat=0,
            samples=samples,
            frames=18 * samples,
            wall_s=samples * latency,
            cpu_s=samples * self._sample_s * slow * self.costs[decoder] * cpu,
            latencies_s=(latency,) * samples,
            digests={"episode 0 from frame 3": self.digests[decoder]},
        )
        return [replace(seat, lost=self.lost)]
