from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.damage.damage import Damage
from pytest_videodecode.damage.operators import Truncate
from pytest_videodecode.damage.recipe import Recipe
from pytest_videodecode.failures.copies import DamagedCopies
from pytest_videodecode.failures.store import FailureStore, read_failure
from pytest_videodecode.model import Clip, DecodeRequest, Outcome, OutcomeKind

CUT = Damage((Truncate(keep_fraction=0.5),))
LOSS = Outcome(kind=OutcomeKind.SILENT_LOSS, count=1, frames=np.zeros((1, 2, 2, 3), np.uint8))


@pytest.fixture
def copies(tmp_path: Path, clip: Clip, clip_cache: ClipCache) -> DamagedCopies:
    return DamagedCopies(tmp_path / "copies", clip_cache)


def test_failure_on_a_copy_is_kept_with_what_came_of_it(tmp_path: Path, clip: Clip, copies: DamagedCopies) -> None:
    request = DecodeRequest(path=copies.write(clip, CUT), indices=(0, 1))
    copies.note(request, LOSS)
    store = FailureStore(tmp_path / "kept")
    recipe = copies.keep(request, "pyav", "frames are missing", store)
    assert recipe == Recipe.of(clip, CUT, request, "pyav")
    assert recipe is not None
    failure = read_failure(tmp_path / "kept" / recipe.id)
    assert (failure.reason, failure.outcome) == ("frames are missing", dataclasses.replace(LOSS, frames=None))
    copy = Path(request.path).read_bytes()
    assert (tmp_path / "kept" / recipe.id / "damaged.avi").read_bytes() == copy


def test_failure_on_another_file_is_none_of_its_own(tmp_path: Path, clip: Clip, copies: DamagedCopies) -> None:
    store = FailureStore(tmp_path / "kept")
    clean = DecodeRequest(path=clip.path, indices=(0,))
    copies.note(clean, LOSS)
    never_asked = DecodeRequest(path=copies.write(clip, CUT), indices=(9,))
    assert copies.keep(clean, "pyav", "", store) is None
    assert copies.keep(never_asked, "pyav", "", store) is None
    assert store.names() == []
