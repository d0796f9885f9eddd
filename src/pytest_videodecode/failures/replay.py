"""A recipe decoded again: is the failure still there?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_videodecode.checks.base import ALLOWED_ERRORS
from pytest_videodecode.damage.recipe import Recipe, read_recipe
from pytest_videodecode.errors import DamageError, Unsupported
from pytest_videodecode.failures import corpus
from pytest_videodecode.failures.judge import fault, frames_at
from pytest_videodecode.failures.store import FOLDER, OUTCOME, RECIPE, Failure, damaged_file, read_failure
from pytest_videodecode.model import Clip, DecodeRequest, DecoderInfo, Outcome

_UNSUPPORTED = f"{Unsupported.__module__}.{Unsupported.__qualname__}"

#: One request, and the decoder's limit for it in seconds (None: that of the run).
Decode = Callable[[DecodeRequest, float | None], Outcome]


@dataclass(frozen=True, kw_only=True, slots=True)
class Replayable:
    """A recipe, where it was read from, and what came of it then where that was kept.

    ``kept`` is the damaged file of a failure folder, replayed as it is; without it the file is made from the recipe.
    """

    recipe: Recipe
    path: Path
    kept: Path | None = None
    failure: Failure | None = None

    @property
    def then(self) -> str:
        """What came of it when it was kept, in one line; empty where nobody wrote it down."""
        if self.failure:
            return str(self.failure.outcome)
        return str(self.recipe.came or "")

    @property
    def limit_s(self) -> float | None:
        """The limit under which it hung, if it did."""
        hang = self.failure.outcome.hang if self.failure else None
        return hang.limit_s if hang else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Replayed:
    """What came of a recipe now, and why that is a failure; ``fault`` is empty where it is none."""

    outcome: Outcome
    fault: str


def find(text: str, root: Path, corpora: Iterable[Path] = ()) -> Replayable:
    """What ``text`` names: a recipe file, the folder of a failure, the id of one under ``root``, or a corpus recipe.

    Raises:
        DamageError: there is nothing of that name, or it cannot be read.
        FormError: it is not JSON, of another version, or not a recipe.
    """
    path = Path(text)
    kept = root / FOLDER / text
    if path.is_dir() or (path.name == text and kept.is_dir()):
        folder = path if path.is_dir() else kept
        return Replayable(
            recipe=read_recipe(folder / RECIPE),
            path=folder / RECIPE,
            kept=damaged_file(folder),
            failure=read_failure(folder) if (folder / OUTCOME).exists() else None,
        )
    if not path.exists() and path.suffix != ".json":
        path = corpus.named(text, corpora) or path
        if not path.exists():
            raise DamageError(
                f"{text!r} is no recipe file, no folder of a failure and no id in {root / FOLDER}, and no recipe of "
                "the corpus; 'videodecode corpus list' and the failures' folder say what there is"
            )
    return Replayable(recipe=read_recipe(path), path=path)


def replay(
    recipe: Recipe,
    clip: Clip | None,
    damaged: Path,
    decode: Decode,
    *,
    limit_s: float | None = None,
    allowed: Sequence[str] = ALLOWED_ERRORS,
) -> Replayed:
    """Decode the ``damaged`` file as ``recipe`` asks, and judge what comes; without ``clip``, by its kind only.

    Raises:
        Unsupported: the decoder cannot be asked this.
    """
    outcome = decode(replace(recipe.request, path=str(damaged.absolute())), limit_s)
    if outcome.error and _UNSUPPORTED in outcome.error.bases:
        raise Unsupported(outcome.error.message)
    return Replayed(outcome=outcome, fault=fault(recipe, clip, damaged.read_bytes(), outcome, allowed))


def askable(request: DecodeRequest, clip: Clip | None, info: DecoderInfo) -> DecodeRequest:
    """``request`` for the same frames in the way that the decoder can be asked: by the clip's times, or by indices."""
    if clip is None or not clip.times:
        return request
    if request.indices is not None and "indices" not in info.asks:
        last = clip.frames - 1
        times = tuple(float(clip.times[min(index, last)]) for index in request.indices)
        return replace(request, indices=None, timestamps=times)
    if request.timestamps is not None and "timestamps" not in info.asks:
        return replace(request, timestamps=None, indices=frames_at(request.timestamps, clip))
    return request
