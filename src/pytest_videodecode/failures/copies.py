"""The damaged copies of clips that one check makes, so that a failure on one of them can be kept."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.damage.damage import Damage, write_damaged
from pytest_videodecode.damage.recipe import Recipe
from pytest_videodecode.failures.store import FailureStore
from pytest_videodecode.model import Clip, DecodeRequest, Outcome


@dataclass(slots=True)
class DamagedCopies:
    """Damaged copies in ``folder``, and what came of the requests for them."""

    folder: Path
    cache: ClipCache
    _made_of: dict[str, tuple[Clip, Damage]] = field(default_factory=dict)
    _outcomes: dict[DecodeRequest, Outcome] = field(default_factory=dict)

    def write(self, clip: Clip, damage: Damage) -> str:
        """The path of a copy of ``clip`` with ``damage``; raises as ``write_damaged`` does."""
        path = str(write_damaged(clip, damage, self.folder, self.cache))
        self._made_of[path] = (clip, damage)
        return path

    def note(self, request: DecodeRequest, outcome: Outcome) -> None:
        """What came of ``request``; forgotten unless it is for one of the copies."""
        if request.path in self._made_of:
            self._outcomes[request] = replace(outcome, frames=None)

    def keep(self, request: DecodeRequest, decoder: str, reason: str, store: FailureStore) -> Recipe | None:
        """Keep the failure that came of ``request``; None where that was not for one of the copies.

        Raises:
            DamageError: the store cannot be written in.
        """
        made_of, outcome = self._made_of.get(request.path), self._outcomes.get(request)
        if made_of is None or outcome is None:
            return None
        recipe = Recipe.of(*made_of, request, decoder)
        store.keep(recipe, Path(request.path), outcome, reason)
        return recipe
