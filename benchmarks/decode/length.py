"""What the length of a clip costs: the same requests in a short clip and in a long one."""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

import av

from benchmarks.decode.cells import FRAMES, PATTERNS, RATE, Cell, Request, clips, requests
from benchmarks.decode.timing import UNTIMED, Peers, ratio
from pytest_videodecode.clips.cache import ClipCache

#: Peers whose cost could grow with the clip, and should not.
NAMES = ("production", "production-uncached", "torchcodec", "torchcodec-uncached")
_PATTERNS = ("single", "window")
_CELL = Cell(codec="av1", gop=2, width=256, height=256, pattern="single", threads=1)


def lines(
    cache: ClipCache, folder: Path, names: Sequence[str], rounds: int, lengths: tuple[int, int]
) -> Iterator[str]:
    """The table: by peer and pattern the median request in either clip, and the median of the paired ratios.

    The two clips, of ``lengths`` in seconds, are made under ``folder``.
    """
    (source,) = clips(cache, _CELL)
    frames = [seconds * RATE for seconds in lengths]
    short, long = (repeated(source, folder / f"{count}.mp4", count) for count in frames)
    yield f"{_CELL.group}: one camera, clips of {lengths[0]} and {lengths[1]} s; median of a request"
    yield f"{'':<22}{'pattern':<9}{'short ms':>10}{'long ms':>10}{'long / short':>14}"
    with Peers(names, cache.root) as peers:
        for pattern in _PATTERNS:
            in_short = requests(PATTERNS[pattern], [str(short)], rounds + UNTIMED, frames=frames[0])
            yield from _measured(peers, pattern, in_short, list(_moved(in_short, str(long), frames[1] - frames[0])))


def _moved(asked: Sequence[Request], path: str, furthest: int) -> Iterator[Request]:
    """The requests later in the clip ``path``, by whole copies of the source: the same pictures."""
    rng = random.Random(0)
    for ((_, indices),) in asked:
        later = FRAMES * rng.randrange(furthest // FRAMES + 1)
        yield [(path, [index + later for index in indices])]


def _measured(peers: Peers, pattern: str, in_short: Sequence[Request], in_long: Sequence[Request]) -> Iterator[str]:
    processes, timings = peers.open(_CELL.threads, in_short[:UNTIMED])
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in processes}
    for pair in zip(in_short, in_long, strict=True):
        for name, process in processes.items():
            short, long = (process.timed(request)[0] for request in pair)
            taken[name].append((short, long))
    for name, timing in timings.items():
        if timing.missing:
            yield f"{name:<22}{pattern:<9}missing: {timing.missing}"
        else:
            shorts, longs = zip(*taken[name][UNTIMED:], strict=True)
            medians = "".join(f"{statistics.median(each) * 1e3:10.2f}" for each in (shorts, longs))
            yield f"{name:<22}{pattern:<9}{medians}{ratio(longs, shorts):14.2f}"


def repeated(source: str, target: Path, frames: int) -> Path:
    """``target`` with ``frames`` frames: the packets of ``source`` over and over; each copy starts at a keyframe."""
    with av.open(source) as container:
        template = container.streams.video[0]
        packets = [packet for packet in container.demux(template) if packet.size]
        per_frame = packets[1].dts - packets[0].dts if packets[0].dts is not None and packets[1].dts is not None else 1
        with av.open(str(target), "w") as output:
            stream = output.add_stream_from_template(template, opaque=True)
            for number in range(frames):
                packet = packets[number % len(packets)]
                packet.stream = stream
                packet.pts = packet.dts = number * per_frame
                output.mux(packet)
    return target
