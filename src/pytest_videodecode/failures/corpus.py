"""The corpus: recipes of damage that once mattered, replayed on every run.

A corpus is a folder of ``NAME.json`` recipes; the clips that they are for lie in the folder ``clips`` beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest_videodecode
from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.clips.rules import CODECS
from pytest_videodecode.damage.recipe import Recipe, write_recipe
from pytest_videodecode.errors import DamageError, Unsupported
from pytest_videodecode.failures.committed import commit, committed_clip
from pytest_videodecode.model import Clip, ClipSpec

CLIPS = "clips"


def packaged() -> Path:
    """The corpus that ships with this package: in a wheel beside the code, in a checkout at its top."""
    package = Path(pytest_videodecode.__file__).parent
    installed = package / "_fixtures"
    return (installed if installed.is_dir() else package.parents[1] / "fixtures") / "corpus"


def recipes(folders: Iterable[Path] = ()) -> list[Path]:
    """The recipe files of the corpus that ships and of ``folders``, by name within each."""
    return [path for folder in (packaged(), *folders) for path in sorted(folder.glob("*.json"))]


def named(name: str, folders: Iterable[Path] = ()) -> Path | None:
    """The recipe file called ``name``, without its ending; None where there is none."""
    return next((path for path in recipes(folders) if path.stem == name), None)


def clip_for(recipe: Recipe, path: Path, cache: ClipCache, real: Mapping[str, Path] | None = None) -> Clip:
    """The clip that ``recipe``, read from the file ``path``, is for: committed, generated, or one of ``real`` files.

    Raises:
        DamageError: the clip found is not the one of the recipe, byte for byte.
        Unsupported: there is no clip of this name here.
        ClipError, FormError: the clip cannot be made or used.
    """
    clip = _found(recipe.clip, path.absolute().parents[1] / CLIPS, cache, real or {})
    recipe.require(clip)
    return clip


def add(recipe: Recipe, clip: Clip, folder: Path, name: str = "", note: str = "") -> Path:
    """Write ``recipe`` into the corpus ``folder`` and, where it is a generated one, its ``clip`` beside it.

    Raises:
        DamageError: there is another recipe of that name, the clip is too large, a folder cannot be written in.
    """
    if clip.spec is not None:
        recipe = replace(recipe, clip=commit(clip, folder.parent / CLIPS).name)
    recipe = replace(recipe, note=note or recipe.note)
    target = folder / f"{name or f'{clip.codec}-{recipe.id}'}.json"
    if target.exists():
        raise DamageError(f"{target}: there already; give another name")
    return write_recipe(recipe, target)


def _found(name: str, clips: Path, cache: ClipCache, real: Mapping[str, Path]) -> Clip:
    committed = clips / Path(name).name
    if committed.is_file():
        return committed_clip(committed)
    if name in real:
        return cache.real(real[name])
    if name.partition(":")[0] in CODECS:
        return cache.clip(ClipSpec.parse(name))
    raise Unsupported(f"the recipe is for {name}, which is not here; put it into {clips}, or name it as a clip")
