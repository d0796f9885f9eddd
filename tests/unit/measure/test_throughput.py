from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import seated

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.errors import Unsupported
from pytest_videodecode.measure.barrier import FolderBarrier
from pytest_videodecode.measure.throughput import add_up, measure, take_seat
from pytest_videodecode.measurement import Measurement, Seat
from pytest_videodecode.options import Settings

MEET_S = 30.0


def seat_apart(decoder: str, barrier: FolderBarrier, cache: ClipCache) -> Seat:
    return take_seat(decoder, "mpeg4", barrier, 0.3, Settings(), cache=cache, shape=seated.SMALL)


def seats_apart(decoders: list[str], folder: Path, cache: ClipCache) -> list[Seat]:
    """Seats kept by different parties, which meet in a folder."""
    barriers = [FolderBarrier(folder, number, len(decoders), MEET_S) for number in range(len(decoders))]
    with ThreadPoolExecutor(len(decoders)) as pool:
        return list(pool.map(seat_apart, decoders, barriers, [cache] * len(decoders)))


def stable(measured: Measurement) -> tuple[object, ...]:
    """What does not depend on how busy the machine is."""
    return measured.processes, measured.sample, measured.identical, measured.decoded_per_sample, measured.lost


def test_seats_apart_bring_what_seats_together_bring(tmp_path: Path, clip_cache: ClipCache) -> None:
    together = measure("seated:right", "mpeg4", 2, 0.3, Settings(), cache=clip_cache, shape=seated.SMALL)
    seats = seats_apart(["seated:right"] * 2, tmp_path, clip_cache)
    apart = add_up(seats, decoder="seated:right", codec="mpeg4", sample=together.sample, seconds=0.3)
    assert [seat.seat for seat in seats] == [0, 1]
    assert len(set(seats[0].digests) & set(seats[1].digests)) >= 2, "half of the samples are the same"
    assert stable(apart) == stable(together)
    assert apart.lost == ()


def test_measurement_has_the_single_stream_beside_it(clip_cache: ClipCache) -> None:
    measured = measure("seated:right", "mpeg4", 1, 0.1, Settings(), cache=clip_cache, shape=seated.SMALL)
    assert measured.split is not None
    assert measured.split.steady_s > 0


def test_seat_that_cannot_be_taken_is_lost_and_holds_nobody_up(tmp_path: Path, clip_cache: ClipCache) -> None:
    right, wrong = seats_apart(["seated:right", "seated:off_by_one"], tmp_path, clip_cache)
    assert right.samples > 0
    assert "is not measured on" in wrong.lost
    assert wrong.seat == 1


def test_what_cannot_be_measured_here_is_unsupported_and_holds_nobody_up(
    tmp_path: Path, clip_cache: ClipCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(*_: object, **__: object) -> None:
        raise Unsupported("no encoder")

    monkeypatch.setattr(clip_cache.__class__, "clip", unsupported)
    with pytest.raises(Unsupported):
        seat_apart("production", FolderBarrier(tmp_path, 0, 2, MEET_S), ClipCache())
    assert (tmp_path / "left.0").exists()
