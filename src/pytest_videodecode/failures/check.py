"""The replay of one recipe of the corpus, as a check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pytest_videodecode.checks.base import Check, Finding, Subject, failed, passed
from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.damage.damage import write_damaged
from pytest_videodecode.damage.recipe import OutcomeClass, read_recipe
from pytest_videodecode.failures.corpus import clip_for
from pytest_videodecode.failures.replay import askable, replay
from pytest_videodecode.jsonform import to_json
from pytest_videodecode.model import Clip


def corpus_check(path: Path, cache: ClipCache, real: Mapping[str, Path], folder: Path) -> tuple[Check, Clip]:
    """The check that replays the recipe in the file ``path``, and the clip to make it on.

    The damaged copy is written into ``folder``; the rest is as in ``corpus.clip_for``.

    Raises:
        VideodecodeError: the recipe cannot be read, is for another clip, or does not fit it.
    """
    recipe = read_recipe(path)
    clip = clip_for(recipe, path, cache, real)
    damaged = write_damaged(clip, recipe.damage, folder, cache)

    def corpus(subject: Subject) -> Finding:
        asked = replace(recipe, request=askable(recipe.request, clip, subject.decoder))
        again = replay(
            asked, clip, damaged, lambda request, _: subject.decode(request), allowed=subject.allowed_errors
        )
        evidence = {"damage": str(recipe.damage), "request": to_json(asked.request), "note": recipe.note}
        if again.fault:
            return failed(f"{recipe.damage}: {again.fault}", **evidence)
        return passed(**evidence, came=str(OutcomeClass.of(again.outcome)))

    return corpus, clip
