"""A stand-in for LeRobot's streaming loader: the same algorithm in few lines, so that CI can compare without LeRobot.

It is not LeRobot. It does the same work per sample, as measured and described of LeRobot 0.6.1: rows are read in
order; for each row every camera's frames are decoded at once, by a decoder that is kept open for each clip
(torchcodec, or PyAV in the same way where that is missing); the finished sample, pixels and all, goes into a buffer
that is filled before the first sample comes out; then each new sample takes the place of a random one, which is handed
out. Nothing decoded for one sample serves another. All rows are one shard, so of several workers one works.

Unlike LeRobot, frames of a window stay in their episode, and several mp4 files per camera are read rightly: the
stand-in is for its speed.
"""

from __future__ import annotations

import importlib
import json
import random
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import IterableDataset, get_worker_info


class StandInDataset(IterableDataset[dict[str, Any]]):
    """Samples of a local LeRobot v3 data set, as ``StreamingLeRobotDataset`` makes them.

    ``backend`` is ``torchcodec`` or ``pyav``; None takes the first that is there.
    """

    def __init__(
        self,
        root: str,
        *,
        delta_timestamps: Mapping[str, Sequence[float]] | None = None,
        buffer_size: int = 1000,
        seed: int = 42,
        shuffle: bool = True,
        decoder_cache_size: int = 100,
        backend: str | None = None,
    ) -> None:
        self.root = Path(root)
        self.info = json.loads((self.root / "meta" / "info.json").read_text(encoding="utf-8"))
        self.fps = float(self.info["fps"])
        self.cameras = [name for name, feature in self.info["features"].items() if feature["dtype"] == "video"]
        self.deltas = dict(delta_timestamps or {})
        self.buffer_size, self.seed, self.shuffle = buffer_size, seed, shuffle
        self.backend = _backend(backend)
        self.decoder_cache = DecoderCache(decoder_cache_size, TorchCodec if self.backend == "torchcodec" else PyAV)
        self.decode_s = 0.0

    @property
    def statistics(self) -> dict[str, float]:
        """Seconds spent decoding; the cache has counts of its own."""
        return {"decode_s": self.decode_s}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        worker = get_worker_info()
        if worker and worker.id:
            return
        rng = random.Random(self.seed)
        buffer: list[dict[str, Any]] = []
        for sample in map(self._sample, self._rows()):
            if not self.shuffle:
                yield sample
            elif len(buffer) < self.buffer_size:
                buffer.append(sample)
            else:
                place = rng.randrange(self.buffer_size)
                yield buffer[place]
                buffer[place] = sample
        rng.shuffle(buffer)
        yield from buffer

    def _rows(self) -> Iterator[dict[str, Any]]:
        import pyarrow.parquet as pq

        self.episodes = {row["episode_index"]: row for row in _table(self.root / "meta" / "episodes")}
        for file in sorted((self.root / "data").rglob("*.parquet")):
            yield from pq.read_table(file).to_pylist()

    def _sample(self, row: dict[str, Any]) -> dict[str, Any]:
        episode = self.episodes[row["episode_index"]]
        sample = {name: torch.tensor(value) for name, value in row.items()}
        for camera in self.cameras:
            deltas = self.deltas.get(camera, (0.0,))
            last = episode["length"] - 1
            asked = [row["frame_index"] + round(delta * self.fps) for delta in deltas]
            first = episode[f"videos/{camera}/from_timestamp"]
            times = [first + min(max(frame, 0), last) / self.fps for frame in asked]
            start = time.perf_counter()
            frames = self.decoder_cache.open(str(self._clip(camera, episode))).at(times)
            pictures = frames.to(torch.float32) / 255
            self.decode_s += time.perf_counter() - start
            sample[camera] = pictures if camera in self.deltas else pictures[0]
            if camera in self.deltas:
                sample[f"{camera}_is_pad"] = torch.tensor([not 0 <= frame <= last for frame in asked])
        return sample

    def _clip(self, camera: str, episode: Mapping[str, Any]) -> Path:
        chunk, file = episode[f"videos/{camera}/chunk_index"], episode[f"videos/{camera}/file_index"]
        return self.root / "videos" / camera / f"chunk-{chunk:03d}" / f"file-{file:03d}.mp4"


class DecoderCache:
    """Open decoders of the clips used last."""

    def __init__(self, size: int, make: Callable[[str], Any]) -> None:
        self._most = size
        self._make = make
        self._open: OrderedDict[str, Any] = OrderedDict()
        self.hits = self.misses = self.evictions = 0

    @property
    def size(self) -> int:
        """How many are open."""
        return len(self._open)

    def open(self, path: str) -> Any:
        """The decoder of a clip, opened if it is not."""
        if path in self._open:
            self.hits += 1
            self._open.move_to_end(path)
            return self._open[path]
        self.misses += 1
        if len(self._open) >= self._most:
            self._open.popitem(last=False)
            self.evictions += 1
        self._open[path] = decoder = self._make(path)
        return decoder


def _backend(asked: str | None) -> str:
    if asked not in (None, "torchcodec", "pyav"):
        raise ValueError(f"backend is {asked!r}; give torchcodec or pyav")
    if asked != "pyav":
        try:
            importlib.import_module("torchcodec.decoders")
        except (ImportError, OSError, RuntimeError):  # without FFmpeg's libraries it raises what its version raises
            if asked:
                raise
            return "pyav"
    return asked or "torchcodec"


class TorchCodec:
    """A clip opened by torchcodec."""

    def __init__(self, path: str) -> None:
        decoders: Any = importlib.import_module("torchcodec.decoders")
        self._decoder = decoders.VideoDecoder(path, seek_mode="approximate")

    def at(self, times: Sequence[float]) -> torch.Tensor:
        """The frames shown at ``times``, uint8 (N,C,H,W)."""
        fps = self._decoder.metadata.average_fps
        frames: torch.Tensor = self._decoder.get_frames_at(indices=[round(time * fps) for time in times]).data
        return frames


class PyAV:
    """A clip opened by PyAV, read as torchcodec reads: one thread, a seek unless the next frame is the one asked."""

    def __init__(self, path: str) -> None:
        import av
        from av.video.reformatter import VideoReformatter

        self._container = av.open(path)
        self._stream: Any = self._container.streams.video[0]
        self._stream.codec_context.thread_count = 1
        self._reformatter = VideoReformatter()
        self._shown: Any = None
        self._frames: Iterator[Any] = iter(())

    def at(self, times: Sequence[float]) -> torch.Tensor:
        """The frames at ``times``, uint8 (N,C,H,W)."""
        pictures = [self._reformatter.reformat(self._at(time), format="rgb24").to_ndarray() for time in times]
        return torch.stack([torch.from_numpy(picture).permute(2, 0, 1) for picture in pictures])

    def _at(self, time: float) -> Any:
        asked = round(time / self._stream.time_base)
        step = round(1 / (self._stream.average_rate * self._stream.time_base))
        if self._shown is None or not self._shown.pts <= asked <= self._shown.pts + step:
            self._container.seek(asked, stream=self._stream)
            self._frames = self._container.decode(self._stream)
            self._shown = next(self._frames)
        while self._shown.pts < asked - step // 2:
            self._shown = next(self._frames)
        return self._shown


def _table(folder: Path) -> list[dict[str, Any]]:
    import pyarrow.parquet as pq

    rows: list[dict[str, Any]] = []
    for file in sorted(folder.rglob("*.parquet")):
        table = pq.read_table(file)
        rows += table.select([name for name in table.column_names if not name.startswith("stats/")]).to_pylist()
    return rows
