"""Damaged decodes of one decoder on one clip, under a limit that adapts to how long a decode takes here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_videodecode.checks.base import ALLOWED_ERRORS
from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.damage.damage import Damage, damaged_bytes, write_whole
from pytest_videodecode.damage.recipe import OutcomeClass, Recipe
from pytest_videodecode.failures.replay import Decode, askable, replay
from pytest_videodecode.model import Clip, DecodeRequest, DecoderInfo, Outcome, OutcomeKind

#: The limit of a decode, as a multiple of a clean one and at least so many seconds: before a hang was met, and after.
FIRST = (20.0, 2.0)
SHORT = (5.0, 0.5)

#: Clean decodes by which the limit is calibrated; the fastest counts, as the first one also loads libraries.
_CALIBRATIONS = 3
_MOST_ASKED = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """A damaged decode that was made: its recipe, what came (without pixels), and why that is a failure."""

    recipe: Recipe
    outcome: Outcome
    fault: str

    @property
    def outcome_class(self) -> OutcomeClass:
        """Its class."""
        return OutcomeClass.of(self.outcome)


class Limit:
    """Seconds that a decode may take: 20 times a clean one, 2 s at least; once one has hung, 5 times, 0.5 s at least.

    A decode that never ends is known to be one after the first; from then on waiting teaches nothing, and shrinking
    a hang means waiting for many. ``most_s`` bounds both.
    """

    def __init__(self, most_s: float, clean_s: float) -> None:
        self.first_s = min(most_s, max(FIRST[1], FIRST[0] * clean_s))
        self.short_s = min(self.first_s, max(SHORT[1], SHORT[0] * clean_s))
        self.hung = False

    @property
    def seconds(self) -> float:
        """That of the next decode."""
        return self.short_s if self.hung else self.first_s


class Trials:
    """Makes damaged decodes of ``clip``, in workers, one after another.

    ``folder`` holds the one damaged file that is decoded at the time.

    Raises:
        VideodecodeError: the clip cannot be read, no worker can be had.
    """

    def __init__(
        self,
        clip: Clip,
        info: DecoderInfo,
        decode: Decode,
        folder: Path,
        cache: ClipCache,
        *,
        most_s: float,
        allowed: Sequence[str] = ALLOWED_ERRORS,
    ) -> None:
        self.clip = clip
        self.info = info
        self._decode = decode
        self._folder = folder
        self._cache = cache
        self._allowed = allowed
        self._base = Recipe.of(clip, Damage(), DecodeRequest(path="", indices=(0,)), info.name)
        self.limit = Limit(most_s, self._clean_s(most_s))

    def make(self, damage: Damage, request: DecodeRequest, limit_s: float | None = None) -> Trial:
        """Decode ``clip`` with ``damage`` as ``request`` asks, under ``limit_s`` or the limit as it now is.

        Raises:
            DamageError: the damage does not fit the clip.
            Unsupported: the decoder cannot be asked this.
        """
        recipe = self.recipe(damage, request)
        done = replay(
            recipe,
            self.clip,
            self.write(damage),
            self._decode,
            limit_s=limit_s or self.limit.seconds,
            allowed=self._allowed,
        )
        if done.outcome.kind is OutcomeKind.HANG:
            self.limit.hung = True
        return Trial(recipe=recipe, outcome=replace(done.outcome, frames=None), fault=done.fault)

    def recipe(self, damage: Damage, request: DecodeRequest) -> Recipe:
        """The recipe of a decode that was made, or will be."""
        asked = askable(replace(request, path=""), self.clip, self.info)
        return replace(self._base, damage=damage, request=asked)

    def write(self, damage: Damage) -> Path:
        """The damaged file; it takes the place of the one before."""
        suffix = Path(self.clip.path).suffix
        return write_whole(self._folder / f"damaged{suffix}", damaged_bytes(self.clip, damage, self._cache))

    def _clean_s(self, most_s: float) -> float:
        last = max(self.clip.frames - 1, 0)
        asked = DecodeRequest(path=self.clip.path, indices=tuple(range(last, max(last - _MOST_ASKED, -1), -1)))
        request = askable(asked, self.clip, self.info)
        took = []
        for _ in range(_CALIBRATIONS):
            outcome = self._decode(request, most_s)
            if outcome.kind is OutcomeKind.HANG:  # it hangs on the clean clip too: there is nothing to go by
                return 0.0
            took.append(outcome.census.wall_s)
        return min(took)
