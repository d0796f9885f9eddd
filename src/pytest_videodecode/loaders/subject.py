"""What a loader is tried on: a small data set with the traps of real ones, and a copy with a damaged clip."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from pytest_videodecode.checks.loaders.base import DamagedSet, LoaderSubject
from pytest_videodecode.damage.base import Context
from pytest_videodecode.damage.damage import Damage
from pytest_videodecode.damage.mapping import map_bytes
from pytest_videodecode.damage.operators import Zero
from pytest_videodecode.datasets.make import make_dataset
from pytest_videodecode.datasets.spec import video_path
from pytest_videodecode.datasets.truth import DatasetTruth
from pytest_videodecode.decoders.spec import DecoderSpec
from pytest_videodecode.jsonform import to_json
from pytest_videodecode.loaders.process import load
from pytest_videodecode.loading import Loaded, LoadRequest

#: Episodes of different lengths, one shorter than the window, in data files that are cut elsewhere than the mp4s.
LENGTHS = (13, 9, 16, 4, 11, 7)
DATASET = f"{len(LENGTHS)} episodes, 2 cameras"


class LoaderRuns:
    """The data set in ``folder``, made at its first use, and the loads of it; equal requests are served once."""

    def __init__(self, folder: Path, deadline: Callable[[], float | None] = lambda: None) -> None:
        self._folder = folder
        self._deadline = deadline  # on the clock of time.monotonic: when the test that runs now is ended
        self._served: dict[str, Loaded] = {}

    def subject(self, name: str, spec: DecoderSpec, limit_s: float, seed: int = 0) -> LoaderSubject:
        """The loader ``spec`` (``target`` is ``module:Class``) under the name that the user gave it."""
        return LoaderSubject(
            name=name,
            dataset=DATASET,
            truth=self.truth,
            load=self._load(spec, limit_s),
            several=lambda: self.several,
            damaged=lambda: self.damaged,
            seed=seed,
        )

    @cached_property
    def truth(self) -> DatasetTruth:
        """The data set: one mp4 for each camera."""
        return self._make("one-file", len(LENGTHS))

    @cached_property
    def several(self) -> DatasetTruth:
        """The same with three mp4 files for each camera."""
        return self._make("several-files", 2)

    def _make(self, name: str, episodes_per_file: int) -> DatasetTruth:
        return make_dataset(
            self._folder / name,
            cameras=("front", "wrist"),
            frames_per_episode=LENGTHS,
            episodes=len(LENGTHS),
            fps=10,
            size=(96, 64),
            episodes_per_file=episodes_per_file,
            data_files=2,
        )

    @cached_property
    def damaged(self) -> DamagedSet:
        """A copy of that whose first camera has a damaged second mp4: its last two thirds are zeros."""
        truth, number = self.several, 1
        camera, episodes = truth.keys[0], truth.spec.video_groups[number]
        file = video_path(camera, *truth.spec.place(number))
        root = self._folder / "damaged"
        shutil.copytree(truth.folder, root, copy_function=_link)
        data = (root / file).read_bytes()
        context = Context(map=map_bytes(data), other=lambda text: b"")
        size = context.map.region("media").size
        content = Damage((Zero(offset=size // 3, length=size - size // 3),)).apply(data, context)
        (root / file).unlink()  # the name only: the file itself is the whole data set's too
        (root / file).write_bytes(content)
        return DamagedSet(root=str(root), file=file, camera=camera, episodes=episodes)

    def _load(self, spec: DecoderSpec, limit_s: float) -> Callable[[LoadRequest], Loaded]:
        def served(request: LoadRequest) -> Loaded:
            key = json.dumps([str(spec), limit_s, to_json(request)])
            if key not in self._served:
                path = [text for text in sys.path if text]
                self._served[key] = load(
                    spec, request, self.truth.keys, limit_s, sys_path=path, deadline=self._deadline()
                )
            return self._served[key]

        return served


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without links
        shutil.copy2(source, target)
