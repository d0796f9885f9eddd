"""The sum over seats that sat at the same time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pytest_videodecode.errors import MeasurementError
from pytest_videodecode.measurement import Measurement, Seat, Split


def add_up(
    seats: Sequence[Seat],
    *,
    decoder: str,
    codec: str,
    sample: str,
    seconds: float,
    processes: int | None = None,
    split: Split | None = None,
    versions: Mapping[str, str] | None = None,
) -> Measurement:
    """One measurement of ``seats``; ``processes`` is how many were meant to sit there (None: these).

    Rates are the sum of each seat's own, over its own time.

    Raises:
        MeasurementError: where no seat brought anything.
    """
    here = [seat for seat in seats if not seat.lost and seat.samples]
    lost = tuple(f"seat {seat.seat}: {seat.lost or 'no sample'}" for seat in seats if seat not in here)
    if not here:
        raise MeasurementError(f"{decoder} on {codec}: no seat decoded a sample; {next(iter(lost), 'there was none')}")
    samples = sum(seat.samples for seat in here)
    cpu_s = sum(seat.cpu_s for seat in here)
    latencies = tuple(latency for seat in here for latency in seat.latencies_s)
    p50, p95, p99 = np.percentile(latencies, [50, 95, 99])
    # not weighted: how far a seat got depends on the machine, how many frames its samples need does not
    decoded = [seat.decoded_frames / seat.samples for seat in here if seat.decoded_frames is not None]
    return Measurement(
        decoder=decoder,
        codec=codec,
        sample=sample,
        processes=len(seats) if processes is None else processes,
        seconds=seconds,
        samples=samples,
        samples_per_s=sum(seat.samples / seat.wall_s for seat in here),
        frames_per_s=sum(seat.frames / seat.wall_s for seat in here),
        cpu_per_sample_s=cpu_s / samples,
        voluntary_per_sample=sum(seat.voluntary_switches for seat in here) / samples,
        involuntary_per_sample=sum(seat.involuntary_switches for seat in here) / samples,
        threads_peak=sum(seat.threads_peak for seat in here),
        rss_peak=max(seat.rss_peak for seat in here),
        p50_s=float(p50),
        p95_s=float(p95),
        p99_s=float(p99),
        identical=_identical(here),
        decoded_per_sample=sum(decoded) / len(decoded) if len(decoded) == len(here) else None,
        split=split,
        overhead=sum(seat.measuring_s for seat in here) / cpu_s if cpu_s else 0.0,
        lost=lost,
        versions=versions or {},
        latencies_s=latencies,
    )


def _identical(seats: Sequence[Seat]) -> bool:
    known: dict[str, str] = {}
    return all(
        known.setdefault(name, digest) == digest for seat in seats for name, digest in seat.digests.items()
    ) and not any(seat.unsteady for seat in seats)
