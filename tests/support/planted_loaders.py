"""Streaming loaders without a decoder, good and with a fault planted in them: what each check of loaders must catch.

Their pictures are drawn when they are asked for, so that an epoch takes milliseconds. ``load`` runs one in this
process, imitating workers and ranks; the same classes work in a DataLoader too.
"""

from __future__ import annotations

import copy
import os
import random
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_videodecode.datasets import marks
from pytest_videodecode.datasets.spec import video_path
from pytest_videodecode.datasets.truth import read_truth
from pytest_videodecode.loaders.build import build
from pytest_videodecode.loaders.observe import Observer
from pytest_videodecode.loading import Loaded, LoadRequest, Sample
from pytest_videodecode.model import ErrorInfo, OutcomeKind

Key = tuple[int, int]

SIZE = 64


class UnreadableClip(RuntimeError):
    """What a good loader raises on a damaged clip: it names the file."""


class Good:
    """A loader that does all it should. Faulty ones change one method."""

    def __init__(
        self,
        root: str,
        *,
        delta_timestamps: Mapping[str, Sequence[float]] | None = None,
        shuffle: bool = True,
        seed: int = 0,
        on_damage: str = "raise",
        rank: int = 0,
        world_size: int = 1,
    ) -> None:
        self.truth = read_truth(Path(root))
        self.root, self.deltas = Path(root), delta_timestamps or {}
        self.shuffle, self.seed, self.on_damage = shuffle, seed, on_damage
        self.rank, self.world_size = rank, world_size
        self.place: tuple[int, int] | None = None  # worker and workers, where there is no DataLoader to say it
        self.taken = 0
        self.damaged = self.find_damage()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        worker, workers = self.place or _place_of_worker()
        keys = self.share(self.order(), worker, workers)
        for key in keys[self.taken :]:
            self.taken += 1
            if path := self.damaged.get(key[0]):
                if not self.meet_damage(path):
                    return
                continue
            yield self.sample(key)

    def order(self) -> list[Key]:
        keys = list(self.truth.samples())
        if self.shuffle:
            self.generator().shuffle(keys)
        return keys

    def generator(self) -> random.Random:
        return random.Random(self.seed)

    def share(self, keys: list[Key], worker: int, workers: int) -> list[Key]:
        return keys[self.rank :: self.world_size][worker::workers]

    def sample(self, key: Key) -> dict[str, Any]:
        episode, frame = key
        sample: dict[str, Any] = {"episode_index": episode, "frame_index": frame}
        for index, camera in enumerate(self.truth.keys):
            offsets = tuple(round(delta * self.truth.spec.fps) for delta in self.deltas.get(camera, (0.0,)))
            frames, pads = self.truth.window(episode, frame, offsets)
            sample[camera] = np.stack([self.picture(episode, index, number) for number in frames])
            sample[f"{camera}_is_pad"] = pads
        return sample

    def picture(self, episode: int, camera: int, frame: int) -> NDArray[np.uint8]:
        picture = np.full((SIZE, SIZE, 3), 128, np.uint8)
        marks.draw(picture, marks.Mark(episode, camera, frame))
        return picture

    def find_damage(self) -> dict[int, str]:
        """The damaged file of each episode that has one."""
        found: dict[int, str] = {}
        spec = self.truth.spec
        for camera in self.truth.keys:
            for number, episodes in enumerate(spec.video_groups):
                path = video_path(camera, *spec.place(number))
                if bytes(400) in (self.root / path).read_bytes():
                    found |= dict.fromkeys(episodes, path)
        return found

    def meet_damage(self, path: str) -> bool:
        """Whether to go on."""
        if self.on_damage == "raise":
            raise UnreadableClip(f"{path} cannot be decoded")
        warnings.warn(f"{path} cannot be decoded; its samples are skipped", stacklevel=2)
        return True

    def state_dict(self) -> dict[str, Any]:
        return {"taken": self.taken}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.taken = state["taken"]


class LosesASample(Good):
    def order(self) -> list[Key]:
        return super().order()[:-1]


class DoublesASample(Good):
    def order(self) -> list[Key]:
        keys = super().order()
        return [*keys, keys[0]]


class RaisesAtTheLast(Good):
    def sample(self, key: Key) -> dict[str, Any]:
        if key == (len(self.truth.spec.lengths) - 1, self.truth.spec.lengths[-1] - 1):
            raise IndexError("list index out of range")
        return super().sample(key)


class OffByOne(Good):
    def picture(self, episode: int, camera: int, frame: int) -> NDArray[np.uint8]:
        return super().picture(episode, camera, min(frame + 1, self.truth.spec.lengths[episode] - 1))


class SwapsCameras(Good):
    def picture(self, episode: int, camera: int, frame: int) -> NDArray[np.uint8]:
        return super().picture(episode, 1 - camera, frame)


class ShortWindow(Good):
    def sample(self, key: Key) -> dict[str, Any]:
        sample = super().sample(key)
        return {name: value[:-1] if np.ndim(value) == 4 else value for name, value in sample.items()}


class FirstFileOnly(Good):
    """Seeks by the episode's place among all episodes, as if all lay in one mp4."""

    def picture(self, episode: int, camera: int, frame: int) -> NDArray[np.uint8]:
        first = self.truth.spec.video_groups[0]
        if episode in first:
            return super().picture(episode, camera, frame)
        return super().picture(first[-1], camera, self.truth.spec.lengths[first[-1]] - 1)


class NeverFlags(Good):
    def sample(self, key: Key) -> dict[str, Any]:
        sample = super().sample(key)
        return {name: np.zeros_like(value) if name.endswith("_is_pad") else value for name, value in sample.items()}


class NeighbourAtTheEnd(Good):
    """A window that leaves its episode shows the next one, and says that it is no padding."""

    def sample(self, key: Key) -> dict[str, Any]:
        sample = super().sample(key)
        episode, last = key[0], self.truth.spec.lengths[key[0]] - 1
        for index, camera in enumerate(self.truth.keys):
            for place, delta in enumerate(self.deltas.get(camera, ())):
                beyond = key[1] + round(delta * self.truth.spec.fps) - last - 1
                if beyond >= 0 and episode + 1 < len(self.truth.spec.lengths):
                    sample[camera][place] = self.picture(episode + 1, index, beyond)
                    sample[f"{camera}_is_pad"][place] = False
        return sample


class BlankPadding(Good):
    """Allowed: black pictures where the window leaves its episode."""

    def sample(self, key: Key) -> dict[str, Any]:
        sample = super().sample(key)
        for camera in self.truth.keys:
            sample[camera][sample[f"{camera}_is_pad"]] = 0
        return sample


class Unseeded(Good):
    def generator(self) -> random.Random:
        return random.Random()


class IgnoresTheSeed(Good):
    def generator(self) -> random.Random:
        return random.Random(7)


class EveryWorkerReadsAll(Good):
    def share(self, keys: list[Key], worker: int, workers: int) -> list[Key]:
        return keys[self.rank :: self.world_size]


class LosesShardsAtFour(Good):
    """Three shards: a fourth worker has none, and takes the third one's place all the same."""

    def share(self, keys: list[Key], worker: int, workers: int) -> list[Key]:
        if workers > 3 and worker == 2:
            return []
        return super().share(keys, worker, workers)


class RanksOverlap(Good):
    def share(self, keys: list[Key], worker: int, workers: int) -> list[Key]:
        if self.world_size > 1:
            keys = keys[: len(keys) * 2 // 3] if self.rank == 0 else keys[len(keys) // 2 :]
        return keys[worker::workers]


class LeavesRanksAlone(Good):
    def share(self, keys: list[Key], worker: int, workers: int) -> list[Key]:
        return keys[worker::workers]


class ReadsTheEnvironment(Good):
    """Allowed: takes its rank from torchrun's variables."""

    def share(self, keys: list[Key], worker: int, workers: int) -> list[Key]:
        return keys[int(os.environ["RANK"]) :: int(os.environ["WORLD_SIZE"])][worker::workers]


class ResumesOneLate(Good):
    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.taken = state["taken"] + 1


class StartsAgain(Good):
    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.taken = 0


class ResumesInAnotherOrder(Good):
    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        order = self.order()
        rest = order[self.taken :]
        self.order = lambda: [*order[: self.taken], *sorted(rest)]  # type: ignore[method-assign]


class HasNoState(Good):
    state_dict = load_state_dict = property()


class EndsAtDamage(Good):
    """Takes the error of a damaged clip for the end of its shard."""

    def meet_damage(self, path: str) -> bool:
        return False


class SkipsInSilence(Good):
    def meet_damage(self, path: str) -> bool:
        return self.on_damage == "skip" or super().meet_damage(path)


class NamelessError(Good):
    def meet_damage(self, path: str) -> bool:
        raise RuntimeError("Could not push packet to decoder: Invalid data found when processing input")


class RaisesThoughAskedToSkip(Good):
    def meet_damage(self, path: str) -> bool:
        raise UnreadableClip(f"{path} cannot be decoded")


class NeighbourOnDamage(Good):
    """Gives the picture before in place of one that cannot be decoded."""

    def find_damage(self) -> dict[int, str]:
        self.broken = super().find_damage()
        return {}

    def picture(self, episode: int, camera: int, frame: int) -> NDArray[np.uint8]:
        return super().picture(episode, camera, max(frame - 1, 0) if episode in self.broken else frame)


class Hangs(Good):
    def sample(self, key: Key) -> dict[str, Any]:
        if self.taken == 5:
            print("hanging:", os.getpid(), file=sys.stderr, flush=True)
            time.sleep(3600)
        return super().sample(key)


class Crashes(Good):
    def sample(self, key: Key) -> dict[str, Any]:
        if self.taken == 5:
            os.kill(os.getpid(), signal.SIGSEGV)
        return super().sample(key)


class ForkOnly(Good):
    """Cannot be given to a process that is spawned."""

    def __init__(self, root: str, **settings: Any) -> None:
        super().__init__(root, **settings)
        self.lock = lambda: None


def load(target: str) -> Callable[[LoadRequest], Loaded]:
    """A ``load`` that runs ``target`` in this process: workers one after another, their samples interleaved."""

    def served(request: LoadRequest) -> Loaded:
        samples: list[Sample] = []
        error = None
        first = _build(target, request)
        resumes = hasattr(first, "state_dict")
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                for sample in _all_samples(target, request):
                    samples.append(Observer(first.truth.keys)(sample))
            except Exception as raised:
                names = tuple(f"{kind.__module__}.{kind.__qualname__}" for kind in type(raised).__mro__)
                error = ErrorInfo(type=type(raised).__name__, message=str(raised), bases=names)
        kind = OutcomeKind.FRAMES if error is None else OutcomeKind.PARTIAL if samples else OutcomeKind.ERROR
        takes = ("root", "seed", "shuffle", "on_damage", "rank", "world_size")
        return Loaded(
            kind=kind,
            samples=tuple(samples),
            error=error,
            takes=takes,
            resumes=resumes,
            log="\n".join(str(warning.message) for warning in said),
        )

    return served


def _all_samples(target: str, request: LoadRequest) -> Iterator[Any]:
    loaders = []
    for worker in range(max(1, request.workers)):
        loader = _build(target, request)
        loader.place = (worker, max(1, request.workers))
        loaders.append(loader)
    if request.resume_at is not None:
        (loader,) = loaders
        for _, sample in zip(range(request.resume_at), loader, strict=False):
            yield sample
        state = copy.deepcopy(loader.state_dict())
        loaders = [_build(target, request)]
        loaders[0].place = (0, 1)
        loaders[0].load_state_dict(state)
    for row in zip_longest(*loaders):
        yield from (sample for sample in row if sample is not None)


def _build(target: str, request: LoadRequest) -> Any:
    asked = {
        "root": request.root,
        "delta_timestamps": dict(request.windows),
        "seed": request.seed,
        "on_damage": request.on_damage,
        "rank": request.rank,
        "world_size": request.world_size,
    }
    return build(target, asked).loader


def _place_of_worker() -> tuple[int, int]:
    if "torch" not in sys.modules:
        return 0, 1
    from torch.utils.data import get_worker_info

    info = get_worker_info()
    return (info.id, info.num_workers) if info else (0, 1)
