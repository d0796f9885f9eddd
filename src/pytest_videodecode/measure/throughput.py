"""Throughput of one decoder: all seats kept here, or one seat of a row that is spread over several processes."""

from __future__ import annotations

from dataclasses import replace

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.errors import Unsupported, VideodecodeError
from pytest_videodecode.measure.barrier import FolderBarrier
from pytest_videodecode.measure.bench import Bench
from pytest_videodecode.measure.sample import SampleShape
from pytest_videodecode.measure.total import add_up
from pytest_videodecode.measurement import Measurement, Seat
from pytest_videodecode.options import Settings

__all__ = ["add_up", "measure", "take_seat"]


def measure(
    decoder: str,
    codec: str,
    processes: int,
    seconds: float,
    settings: Settings,
    *,
    cache: ClipCache | None = None,
    shape: SampleShape | None = None,
) -> Measurement:
    """``processes`` seats of ``decoder`` for ``seconds``, and the latency of one stream alone beside it.

    Raises:
        VideodecodeError: as ``Bench`` does, and where no seat brought anything.
    """
    with Bench([decoder], codec, processes, settings, cache=cache, shape=shape) as bench:
        return replace(bench.round(0, seconds), split=bench.split(0))


def take_seat(
    decoder: str,
    codec: str,
    barrier: FolderBarrier,
    seconds: float,
    settings: Settings,
    *,
    cache: ClipCache | None = None,
    shape: SampleShape | None = None,
) -> Seat:
    """One seat, of number ``barrier.seat``, which decodes when all that meet at ``barrier`` do; ``add_up`` sums them.

    Whatever goes wrong here makes a lost seat, and the others are told not to wait for it.

    Raises:
        Unsupported: nothing can be measured here, for want of a package or an encoder.
    """
    try:
        with Bench([decoder], codec, 1, settings, cache=cache, shape=shape, first_seat=barrier.seat) as bench:
            [seat] = bench.seats(0, seconds, meet=barrier.meet)
            barrier.part()
            return seat
    except Unsupported:
        barrier.leave()
        raise
    except VideodecodeError as error:
        barrier.leave()
        return Seat(seat=barrier.seat, lost=str(error))
    except BaseException:
        barrier.leave()
        raise
