"""Where the time of one stream goes when nothing else decodes: opening, the first frame, the steady state."""

from __future__ import annotations

import shutil
import statistics
import tempfile
from pathlib import Path

from pytest_videodecode.errors import MeasurementError
from pytest_videodecode.isolation.protocol import Go, Sample, SeatOrder
from pytest_videodecode.measure.sample import Samples, request
from pytest_videodecode.measure.seating import Row
from pytest_videodecode.measurement import Seat, Split
from pytest_videodecode.model import DecoderInfo

#: Copies of a clip that are opened, none of which the decoder has seen before.
_COPIES = 7

#: How often each sample of the steady state is decoded.
_PASSES = 3

#: No time limit of its own; the seat ends with its last sample.
_UNLIMITED_S = 3600.0


def measure_split(decoder: str, row: Row, info: DecoderInfo, samples: Samples) -> Split:
    """The medians, from seat 0 of ``row``, which is alone there.

    Raises:
        MeasurementError: where the seat is lost.
    """
    clip = samples.clips[0][0]
    with tempfile.TemporaryDirectory(prefix="videodecode-split-") as folder:
        first_frames = []
        for number in range(_COPIES):
            copy = Path(folder, f"{number}{Path(clip.path).suffix}")
            shutil.copyfile(clip.path, copy)
            asked = request(clip, [0], info, path=str(copy))
            first_frames += [Sample(name=f"{kind} {number}", requests=(asked,)) for kind in ("open", "again")]
        opened = _decode(decoder, row, SeatOrder(seat=0, samples=tuple(first_frames), rehearse=False), 1)
    steady = _decode(decoder, row, SeatOrder(seat=0, samples=samples.of_seat(0, info)), _PASSES)
    return Split(
        open_s=statistics.median(opened.latencies_s[::2]),
        first_frame_s=statistics.median(opened.latencies_s[1::2]),
        steady_s=statistics.median(steady.latencies_s),
    )


def _decode(decoder: str, row: Row, order: SeatOrder, passes: int) -> Seat:
    seats = row.get_ready({order.seat: order})
    seat = row.go(Go(seconds=_UNLIMITED_S, most=len(order.samples) * passes), seats)[order.seat]
    if seat.lost:
        raise MeasurementError(f"{decoder} alone on the machine: {seat.lost}")
    return seat
