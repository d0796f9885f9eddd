"""The recipe of a synthetic data set, and where it puts each episode."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise

from pytest_videodecode.clips.rules import CODECS, MAX_SIDE
from pytest_videodecode.datasets import marks
from pytest_videodecode.errors import ClipError

#: Bounds the time that one data set takes to make: about 200 hours of 256x256 video at 20 frames a second.
MAX_PIXELS = 10**12
MAX_FPS = 240
_CAMERA = re.compile(r"[A-Za-z0-9_]{1,64}")
#: LeRobot's own encoder setting for AV1; the other codecs keep the default of ``clips.rules``.
_AV1_QUALITY = 30


@dataclass(frozen=True, kw_only=True, slots=True)
class VideoFile:
    """One mp4: the episodes that follow one another in it, seen by one camera. Equal ones make equal files."""

    camera: int
    episodes: tuple[int, ...]
    lengths: tuple[int, ...]
    fps: int
    codec: str
    gop: int
    width: int
    height: int
    quality: int
    seed: int
    textured: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class DatasetSpec:
    """The recipe of a data set; ``lengths`` is the number of frames of each episode.

    ``episodes_per_file`` bounds the episodes of one mp4; ``data_files`` is the number of data parquet files, and
    ``chunks_size`` the most files of a kind in one ``chunk-`` folder. Sizes are in pixels.
    """

    cameras: tuple[str, ...] = ("front", "wrist")
    lengths: tuple[int, ...] = (20, 20, 20, 20)
    fps: int = 20
    codec: str = "av1"
    gop: int = 2
    width: int = 256
    height: int = 256
    quality: int | None = None
    episodes_per_file: int = 2
    data_files: int = 1
    chunks_size: int = 1000
    seed: int = 0
    textured: bool = True

    @property
    def keys(self) -> tuple[str, ...]:
        """The feature name of each camera."""
        return tuple(f"observation.images.{camera}" for camera in self.cameras)

    @property
    def starts(self) -> tuple[int, ...]:
        """The place of each episode's first frame among all frames, then the number of all frames."""
        return (0, *accumulate(self.lengths))

    @property
    def video_groups(self) -> tuple[range, ...]:
        """The episodes of each mp4 of a camera."""
        total, step = len(self.lengths), self.episodes_per_file
        return tuple(range(first, min(first + step, total)) for first in range(0, total, step))

    @property
    def data_groups(self) -> tuple[range, ...]:
        """The episodes of each data parquet file."""
        total = len(self.lengths)
        cuts = [total * number // self.data_files for number in range(self.data_files + 1)]
        return tuple(range(first, last) for first, last in pairwise(cuts))

    def place(self, number: int) -> tuple[int, int]:
        """Chunk and file index of file ``number`` of a kind."""
        return divmod(number, self.chunks_size)

    def videos(self) -> Iterator[tuple[str, VideoFile]]:
        """Every mp4 with its path relative to the data set's folder."""
        for camera, key in enumerate(self.keys):
            for number, group in enumerate(self.video_groups):
                yield video_path(key, *self.place(number)), self._video(camera, group)

    def _video(self, camera: int, group: range) -> VideoFile:
        default = _AV1_QUALITY if self.codec == "av1" else CODECS[self.codec].default_quality
        return VideoFile(
            camera=camera,
            episodes=tuple(group),
            lengths=tuple(self.lengths[episode] for episode in group),
            fps=self.fps,
            codec=self.codec,
            gop=self.gop,
            width=self.width,
            height=self.height,
            quality=default if self.quality is None else self.quality,
            seed=self.seed,
            textured=self.textured,
        )


def video_path(key: str, chunk: int, file: int) -> str:
    """The path of an mp4, as ``video_path`` of ``meta/info.json`` has it."""
    return f"videos/{key}/chunk-{chunk:03d}/file-{file:03d}.mp4"


def data_path(chunk: int, file: int) -> str:
    """The path of a data parquet file, as ``data_path`` of ``meta/info.json`` has it."""
    return f"data/chunk-{chunk:03d}/file-{file:03d}.parquet"


def require_usable(spec: DatasetSpec) -> None:
    """Raise ``ClipError`` with one line that says what is possible, where ``spec`` cannot be made."""
    if fault := _structure(spec) or _video(spec):
        raise ClipError(f"data set: {fault}")


def _structure(spec: DatasetSpec) -> str:
    if not 1 <= len(spec.cameras) <= marks.MAX_CAMERAS or len(set(spec.cameras)) < len(spec.cameras):
        return f"{len(spec.cameras)} cameras are not possible; give 1 to {marks.MAX_CAMERAS} different names"
    if wrong := [camera for camera in spec.cameras if not _CAMERA.fullmatch(camera)]:
        return f"a camera cannot be called {wrong[0]!r:.80}; use letters, digits and _"
    if not 1 <= len(spec.lengths) <= marks.MAX_EPISODES:
        return f"{len(spec.lengths)} episodes are not possible; give 1 to {marks.MAX_EPISODES}"
    if wrong_lengths := [length for length in spec.lengths if not 1 <= length <= marks.MAX_FRAMES]:
        return f"an episode of {wrong_lengths[0]} frames is not possible; give 1 to {marks.MAX_FRAMES}"
    if spec.episodes_per_file < 1:
        return f"{spec.episodes_per_file} episodes in a video file are not possible; give 1 or more"
    if not 1 <= spec.data_files <= len(spec.lengths):
        return f"{spec.data_files} data files are not possible; give 1 to the number of episodes, {len(spec.lengths)}"
    if spec.chunks_size < 1:
        return f"{spec.chunks_size} files in a chunk are not possible; give 1 or more"
    return "" if 0 <= spec.seed < 2**32 else f"a seed of {spec.seed} is not possible; give 0 to {2**32 - 1}"


def _video(spec: DatasetSpec) -> str:
    rules = CODECS.get(spec.codec)
    if rules is None:
        return f"unknown codec {spec.codec!r:.80}; known are {', '.join(CODECS)}"
    sides = (spec.width, spec.height)
    if not all(marks.MIN_SIDE <= side <= MAX_SIDE and side % 2 == 0 for side in sides):
        shown = f"{spec.width}x{spec.height}"
        return f"a size of {shown} is not possible; give even sides of {marks.MIN_SIDE} to {MAX_SIDE} pixels"
    if not 1 <= spec.gop <= rules.max_gop:
        return f"a GOP of {spec.gop} frames is not possible; {spec.codec} takes 1 to {rules.max_gop}"
    low, high = rules.quality
    if spec.quality is not None and not low <= spec.quality <= high:
        return f"a quality of {spec.quality} is not possible; {spec.codec} takes {low} (best) to {high}"
    if not 1 <= spec.fps <= MAX_FPS:
        return f"{spec.fps} frames a second are not possible; give 1 to {MAX_FPS}"
    if spec.width * spec.height * spec.starts[-1] * len(spec.cameras) > MAX_PIXELS:
        return f"more than {MAX_PIXELS:,} pixels in all; use fewer or smaller frames"
    return ""
