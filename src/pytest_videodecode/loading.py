"""The words of streaming loaders as frozen values: what is asked of one, and what came.

Only the standard library is imported here, as in ``model``. A *loader* is a class whose objects give samples, each a
mapping with pictures under the names of the cameras; a *sample* is named by its episode and its frame in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_videodecode.model import ErrorInfo, OutcomeKind


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadRequest:
    """One epoch of the data set in the folder ``root``.

    ``windows`` has the seconds around each sample by camera. ``workers`` are DataLoader processes, started by
    ``start_method``; 0 reads in the main process. ``rank`` of ``world_size`` is said to the loader by torchrun's
    environment variables, and by its parameters where it has these. ``resume_at`` has the state taken after so many
    samples, and the rest read by a second loader that was given it.
    ``on_damage`` is ``raise`` or ``skip`` for loaders with such a parameter. ``again`` tells repeats apart.
    """

    root: str
    windows: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    shuffle: bool = True
    seed: int = 0
    workers: int = 0
    start_method: str = "fork"
    rank: int = 0
    world_size: int = 1
    resume_at: int | None = None
    on_damage: str | None = None
    again: int = 0

    def __str__(self) -> str:
        parts = ["an epoch", f"with {self.workers} workers" + (f" by {self.start_method}" if self.workers else "")]
        if self.world_size > 1:
            parts.append(f"as rank {self.rank} of {self.world_size}")
        if self.resume_at is not None:
            parts.append(f"resumed at sample {self.resume_at}")
        if self.on_damage:
            parts.append(f"with on_damage={self.on_damage}")
        return ", ".join([*parts, f"seed {self.seed}"])


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """One sample: what it says of itself, and what its pictures show.

    ``shown`` has by camera one entry per picture of the window, (episode, camera, frame) as read off the pixels, None
    where nothing can be made out; ``pads`` the flags that say which of these are padding.
    """

    episode: int
    frame: int
    shown: Mapping[str, tuple[tuple[int, ...] | None, ...]] = field(default_factory=dict)
    pads: Mapping[str, tuple[bool, ...]] = field(default_factory=dict)

    @property
    def key(self) -> tuple[int, int]:
        """Episode and frame."""
        return self.episode, self.frame


@dataclass(frozen=True, kw_only=True, slots=True)
class Loaded:
    """What came of a request. ``kind`` is ``frames`` where the epoch came to its end by itself.

    ``partial``, ``hang`` and ``crash`` may have samples too: those that came before. ``takes`` are the parameters of
    the loader's class, ``resumes`` whether it has ``state_dict`` and ``load_state_dict``. ``log`` is the end of what
    was written to standard error, warnings included.
    """

    kind: OutcomeKind
    samples: tuple[Sample, ...] = ()
    error: ErrorInfo | None = None
    takes: tuple[str, ...] = ()
    resumes: bool = False
    limit_s: float = 0.0
    signal: str = ""
    log: str = ""

    @property
    def whole(self) -> bool:
        """Whether it ended by itself, without an error."""
        return self.kind is OutcomeKind.FRAMES

    def __str__(self) -> str:
        came = f"{len(self.samples)} samples"
        match self.kind:
            case OutcomeKind.FRAMES:
                return came
            case OutcomeKind.HANG:
                return f"{came}, then nothing for {self.limit_s:g} s"
            case OutcomeKind.CRASH:
                return f"{came}, then a crash ({self.signal})"
            case _:
                return f"{came}, then {self.error}" if self.samples else str(self.error)
