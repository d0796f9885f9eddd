"""What a check of a loader is handed, and what several of them ask and look at."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pytest_videodecode.checks.base import MAX_LISTED, Finding, failed, one_line, passed, settled, unsupported
from pytest_videodecode.datasets.truth import DatasetTruth
from pytest_videodecode.loading import Loaded, LoadRequest, Sample
from pytest_videodecode.model import Verdict

#: The window asked of every camera, in frames: both directions, neighbours and far ones.
OFFSETS = (-5, -1, 0, 1, 4)

#: (episode, frame)
Key = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class DamagedSet:
    """A copy of the data set in which one mp4 is damaged: its path in the data set, and whose frames lie in it."""

    root: str
    file: str
    camera: str
    episodes: range


@dataclass(frozen=True, kw_only=True)
class LoaderSubject:
    """One loader, the data sets to try it on, and the way to read them.

    ``truth`` is of a data set with one mp4 for each camera, ``several`` makes the same with several, so that a fault
    with these does not hide the others; ``damaged`` makes a copy of that with a damaged clip. ``load`` never raises
    for what a loader does. An equal request may be answered from memory.
    """

    name: str
    dataset: str
    truth: DatasetTruth
    load: Callable[[LoadRequest], Loaded]
    several: Callable[[], DatasetTruth]
    damaged: Callable[[], DamagedSet]
    seed: int = 0

    def request(self, **changes: Any) -> LoadRequest:
        """One epoch with the window of ``OFFSETS`` for every camera, in the main process."""
        fps = self.truth.spec.fps
        asked = LoadRequest(
            root=self.truth.folder,
            windows={camera: tuple(offset / fps for offset in OFFSETS) for camera in self.truth.keys},
            seed=self.seed,
        )
        return dataclasses.replace(asked, **changes)


class LoaderCheck(Protocol):
    """A thing that must hold of a loader. Its name is the function's."""

    __name__: str

    def __call__(self, subject: LoaderSubject, /) -> Finding:
        """Load, look, and say what was found."""


def run(check: LoaderCheck, subject: LoaderSubject) -> Verdict:
    """``check`` on ``subject`` as a verdict. A loader that cannot be built ends the check with that verdict."""
    loads = 0

    def load(request: LoadRequest) -> Loaded:
        nonlocal loads
        loads += 1
        loaded = subject.load(request)
        if loaded.error and (status := settled(loaded.error)):
            raise _Settled(Finding(status=status, reason=one_line(loaded.error.message)))
        return loaded

    try:
        finding = check(dataclasses.replace(subject, load=load))
    except _Settled as end:
        finding = end.finding
    return Verdict(
        check=check.__name__,
        decoder=subject.name,
        clip=subject.dataset,
        status=finding.status,
        reason=finding.reason,
        evidence={**(finding.evidence or {}), "loads": loads},
    )


class _Settled(Exception):
    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.reason)
        self.finding = finding


def once_each(subject: LoaderSubject, loads: Iterable[Loaded]) -> str:
    """What is wrong with the samples of ``loads`` as one epoch together; empty where each came exactly once."""
    parts = list(loads)
    if broken := next((loaded for loaded in parts if not loaded.whole), None):
        return str(broken)
    came = Counter(sample.key for loaded in parts for sample in loaded.samples)
    asked = set(subject.truth.samples())
    found = [
        ("never came", [key for key in sorted(asked) if key not in came]),
        ("came more than once", [key for key in sorted(asked) if came[key] > 1]),
        ("are none of the data set", sorted(key for key in came if key not in asked)),
    ]
    return "; ".join(f"{len(keys)} samples {what}: {listed(keys)}" for what, keys in found if keys)


def listed(keys: Iterable[Key]) -> str:
    """``episode 1 frame 3, episode 2 frame 0, …``"""
    shown = [f"episode {episode} frame {frame}" for episode, frame in keys]
    return ", ".join(shown[:3]) + (f" and {len(shown) - 3} more" if len(shown) > 3 else "")


def first_difference(first: Sequence[Key], second: Sequence[Key]) -> str:
    """``sample 3 was episode 1 frame 2, and episode 0 frame 5`` of two orders that are not the same."""
    place = next((n for n, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]), None)
    if place is None:
        return f"{len(first)} samples came, and {len(second)}"
    return f"sample {place} was {listed([first[place]])}, and {listed([second[place]])}"


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture of a sample's window: where it stands, what is right there, and what it shows.

    ``asked`` may lie outside the episode, which has ``length`` frames; ``flag`` is its padding flag, None where the
    sample has none.
    """

    sample: Key
    camera: str
    camera_index: int
    asked: int
    length: int
    shown: tuple[int, ...] | None
    flag: bool | None

    @property
    def inside(self) -> bool:
        """Whether the frame asked is one of the episode."""
        return 0 <= self.asked < self.length

    @property
    def right(self) -> tuple[int, ...]:
        """What it must show: the frame asked, or the episode's first or last where that lies outside."""
        return self.sample[0], self.camera_index, min(max(self.asked, 0), self.length - 1)

    def __str__(self) -> str:
        at = f"episode {self.sample[0]} frame {self.sample[1]}, {self.camera}, {self.asked - self.sample[1]:+d} frames"
        if self.shown is None:
            return f"{at}: asked frame {self.asked}, got a picture that shows no frame"
        episode, camera, frame = self.shown
        return f"{at}: asked frame {self.asked}, got frame {frame} of episode {episode}, camera {camera}"


def pictures(subject: LoaderSubject, samples: Iterable[Sample]) -> Iterator[Picture]:
    """Every picture of every sample that is one of the data set; a window of another length is left to ``shapes``."""
    lengths = subject.truth.spec.lengths
    for sample in samples:
        if not 0 <= sample.episode < len(lengths):
            continue
        for index, camera in enumerate(subject.truth.keys):
            flags = sample.pads.get(camera, ())
            for place, (offset, shown) in enumerate(zip(OFFSETS, sample.shown[camera], strict=False)):
                yield Picture(
                    sample=sample.key,
                    camera=camera,
                    camera_index=index,
                    asked=sample.frame + offset,
                    length=lengths[sample.episode],
                    shown=shown,
                    flag=flags[place] if place < len(flags) else None,
                )


def shapes(subject: LoaderSubject, samples: Iterable[Sample]) -> str:
    """The first window that has not as many pictures as asked; empty where all have."""
    for sample in samples:
        for camera in subject.truth.keys:
            if (came := len(sample.shown[camera])) != len(OFFSETS):
                return f"{listed([sample.key])}, {camera}: asked {len(OFFSETS)} pictures, got {came}"
    return ""


def judged(loaded: Loaded, wrong: list[str], looked_at: int, what: str) -> Finding:
    """Failed with the first of ``wrong``; else passed, if anything was there to be looked at."""
    if wrong:
        more = f"; {len(wrong) - 1} more of {looked_at} {what}" if len(wrong) > 1 else ""
        return failed(wrong[0] + more, wrong=wrong[:MAX_LISTED], wrong_in_all=len(wrong), looked_at=looked_at)
    if not looked_at:
        return failed(f"no {what} came to be looked at: {loaded}") if not loaded.whole else unsupported(f"no {what}")
    return passed(looked_at=looked_at)
