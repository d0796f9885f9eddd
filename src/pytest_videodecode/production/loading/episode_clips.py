"""Frames of a data set's clips, read through the decoder cache; what cannot be read is said frame by frame."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import av
import numpy as np
from numpy.typing import NDArray

from pytest_videodecode.production.dataset import Dataset
from pytest_videodecode.production.decoder_cache import CacheStatistics, DecoderCache
from pytest_videodecode.production.errors import FrameConversionError, FrameTimestampError, NoVideoStreamError
from pytest_videodecode.production.layout.clip_facts import read_clip_facts, require_matching
from pytest_videodecode.production.layout.errors import UnreadableClipError, UnreadableClipWarning
from pytest_videodecode.production.reading.video_source import BinaryReader
from pytest_videodecode.production.video_io import decode_video_frames

Picture = NDArray[np.uint8]

# What a clip's content can cause. Everything else (a source that fails, a setting that cannot be) is no damage.
_DAMAGE = (av.FFmpegError, FrameConversionError, FrameTimestampError, NoVideoStreamError, UnreadableClipError)
_GONE = (FileNotFoundError, PermissionError)


@dataclass(frozen=True)
class ClipSettings:
    """How clips are read: clips kept open, the reader's own settings, and whether damage is skipped or raised."""

    cache_size: int
    tolerance_s: float
    threads: int | None
    device: str
    skip_damage: bool


class EpisodeClips:
    """Reads frames by episode. For one process and one thread.

    ``decode_s`` and ``fetch_s`` are the time spent so far (s) in decoding, and in getting files from the source.
    ``frames`` counts what was decoded and asked for, ``unreadable`` holds the clips that some frame could not be
    read from.
    """

    def __init__(self, dataset: Dataset, settings: ClipSettings) -> None:
        self._dataset, self._settings = dataset, settings
        self._cache = DecoderCache(max_size=settings.cache_size)
        self._matching: set[str] = set()
        self._scratch: dict[tuple[int, int], NDArray[np.uint8]] = {}
        self.unreadable: set[str] = set()
        self.decode_s = self.fetch_s = 0.0
        self.frames = 0

    @property
    def cache(self) -> CacheStatistics:
        """How the decoder cache has done."""
        return self._cache.statistics

    def read(self, camera: str, episode: int, frames: Sequence[int]) -> list[Picture | UnreadableClipError]:
        """For each of ``frames`` of ``episode`` its picture (H,W,3), or why it cannot be read where that is skipped.

        The pictures lie in memory that the next call uses again.

        Raises:
            DatasetError: the clip is missing, or of another rate or size than the data set says.
            UnreadableClipError: the clip cannot be read, and damage is not skipped.
            VideoReadError: the source fails.
        """
        path, start = self._dataset.clip(episode, camera)
        asked = time.perf_counter()
        video = self._dataset.files.video(path)
        begun = time.perf_counter()
        self.fetch_s += begun - asked
        times = [start + frame / self._dataset.info.fps for frame in frames]
        try:
            self._require_matching(video, path, camera)
            return list(self._decode(video, camera, times))
        except _DAMAGE as error:
            if isinstance(error, _GONE):
                raise
            span = f"frame {frames[0]}" if len(frames) == 1 else f"frames {frames[0]} to {frames[-1]}"
            failure = UnreadableClipError(
                f"{self._dataset.files.description}: {span} of episode {episode} cannot be read from {path} "
                f"({' '.join(str(error).split())})"
            )
            if not self._settings.skip_damage:
                raise failure from error
            self._report(path, failure)
            alone = (self._alone(video, camera, time_s) for time_s in times)
            return [failure if picture is None else picture for picture in alone]
        finally:
            self.decode_s += time.perf_counter() - begun

    def _require_matching(self, video: str | BinaryReader, path: str, camera: str) -> None:
        """The first time that a clip is read: that it is what the data set says."""
        if path not in self._matching:
            facts = read_clip_facts(video, f"{self._dataset.files.description}: {path}", packets=0)
            require_matching(facts, self._dataset.info, camera)
            self._matching.add(path)

    def _decode(self, video: str | BinaryReader, camera: str, times: Sequence[float]) -> Picture:
        size = self._dataset.info.features[camera].size
        held = self._scratch.get(size)
        if held is None or len(held) < len(times):
            held = self._scratch[size] = np.empty((len(times), *size, 3), np.uint8)
        pictures: Picture = decode_video_frames(
            video,
            times,
            self._settings.tolerance_s,
            decoder_cache=self._cache,
            threads=self._settings.threads,
            device=self._settings.device,
            out=held[: len(times)],
        )
        self.frames += len(times)
        return pictures

    def _alone(self, video: str | BinaryReader, camera: str, time_s: float) -> Picture | None:
        """One frame: an error says nothing of the frames that were asked together with the bad one."""
        try:
            picture: Picture = self._decode(video, camera, [time_s])[0].copy()
        except _DAMAGE:
            return None
        return picture

    def _report(self, path: str, failure: UnreadableClipError) -> None:
        if path not in self.unreadable:
            self.unreadable.add(path)
            warnings.warn(
                f"{failure}; samples that show such frames are left out", UnreadableClipWarning, stacklevel=2
            )
