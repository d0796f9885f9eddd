"""All peers by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import partial

from benchmarks.decode import packages
from benchmarks.decode.algorithms import decode_as_lerobot, decode_as_seed
from benchmarks.decode.cells import Request
from benchmarks.decode.floor import Floor
from benchmarks.decode.peer import Function, Peer


class Production(Function):
    """The reader that ships, with a cache of open clips or without one."""

    def __init__(self, threads: int, cached: bool, device: str = "cpu") -> None:
        # by name, because production is a tenant: it is measured like any other package
        read = importlib.import_module("pytest_videodecode.production.video_io").decode_video_frames
        cache = importlib.import_module("pytest_videodecode.production.decoder_cache").DecoderCache()
        self._cache = cache
        given = {"decoder_cache": cache} if cached else {}
        super().__init__(
            lambda path, indices: read(path, frame_indices=indices, threads=threads, device=device, **given),
            "threads set libdav1d's pool only; other codecs have PyAV's default (slice threads)",
        )

    def close(self) -> None:
        """Close the cache's clips."""
        self._cache.close()


#: By name: what makes the peer from the cell's thread count and a few requests to try it on.
PEERS: dict[str, Callable[[int, Sequence[Request]], Peer]] = {
    "production": lambda threads, trial: Production(threads, cached=True),
    "production-uncached": lambda threads, trial: Production(threads, cached=False),
    "production-cuda": lambda threads, trial: Production(threads, cached=True, device="cuda"),
    "torchcodec": lambda threads, trial: packages.torchcodec(threads, True, trial),
    "torchcodec-uncached": lambda threads, trial: packages.torchcodec(threads, False, trial),
    "decord": lambda threads, trial: packages.decord2(threads),
    "opencv": lambda threads, trial: packages.opencv(threads),
    "seed": lambda threads, trial: _seed(2),
    "seed-1": lambda threads, trial: _seed(1),
    "seed-160": lambda threads, trial: _seed(160),
    "lerobot-pyav": lambda threads, trial: Function(decode_as_lerobot, "PyAV's default threads"),
    "floor": lambda threads, trial: Floor(threads),
}

#: Those of the table; the rest need a GPU, or imitate other settings of the seed for many processes at once.
STANDARD = tuple(name for name in PEERS if name not in ("production-cuda", "seed-1", "seed-160"))


def _seed(cap: int) -> Peer:
    return Function(partial(decode_as_seed, cap=cap), f"libdav1d's pool has {cap} thread(s) whatever the cell says")


def make(name: str, threads: int, trial: Sequence[Request]) -> Peer:
    """The peer ``name``, tried once on the first request of ``trial``.

    Raises:
        Missing: it is not installed, or cannot read the clip.
    """
    peer = PEERS[name](threads, trial)
    peer.prepare(trial[0])
    for path, indices in trial[0]:
        peer.decode(path, indices)
    return peer
