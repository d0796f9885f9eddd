"""Failures on disk: one folder each, with everything that is needed to see it again.

``<folder>/<id>/`` holds ``recipe.json``, ``outcome.json`` (what came, with its stacks and log, and how often) and the
damaged file. A folder appears whole or not at all. The id is that of the recipe, so the same failure is kept once.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import filelock

from pytest_videodecode.damage.damage import write_whole
from pytest_videodecode.damage.recipe import OutcomeClass, Recipe, read_recipe, write_recipe
from pytest_videodecode.errors import DamageError, FormError, VideodecodeError
from pytest_videodecode.jsonform import loads, to_json
from pytest_videodecode.model import Outcome

#: Where failures are kept, under the folder of the run.
FOLDER = Path(".videodecode") / "failures"

#: How many failures one folder keeps.
MAX_KEPT = 200

#: A larger damaged file is not copied: its recipe makes it again, from the clip.
MAX_FILE = 64 << 20

SCHEMA = "videodecode-failure/1"
RECIPE, OUTCOME, DAMAGED = "recipe.json", "outcome.json", "damaged"

_LOCK_LIMIT_S = 60.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """What came of a recipe: the outcome without its pixels, why it is a failure, how often it was met."""

    schema: str = SCHEMA
    reason: str
    outcome: Outcome
    count: int = 1


class FailureStore:
    """The failures under ``folder``, ``limit`` of them at most; many processes may keep theirs at once.

    When it is full, a new failure takes the place of the one of its own outcome class that was not met for longest,
    so that a flood of one kind drives out no other; a class that is new takes that place in the largest class.
    """

    def __init__(self, folder: Path, limit: int = MAX_KEPT) -> None:
        self.folder = folder
        self._limit = limit

    def keep(self, recipe: Recipe, damaged: Path, outcome: Outcome, reason: str) -> Path:
        """The folder of this failure, written now or, where it is there already, counted once more.

        Raises:
            DamageError: the folder cannot be written in. The run can go on.
        """
        target = self.folder / recipe.id
        recipe = replace(recipe, came=OutcomeClass.of(outcome))
        try:
            with self._locked():
                if target.is_dir():
                    self._count_again(target)
                else:
                    self._make_room(OutcomeClass.of(outcome))
                    self._write(target, recipe, damaged, Failure(reason=reason, outcome=outcome))
        except (OSError, filelock.Timeout) as error:
            why = getattr(error, "strerror", None) or error
            raise DamageError(f"failures cannot be kept in {self.folder} ({why}); make it writable") from None
        return target

    def discard(self, name: str) -> None:
        """Forget the failure with this id, if it is here: a smaller one has taken its place."""
        shutil.rmtree(self.folder / name, ignore_errors=True)

    def replay(self, name: str) -> list[str]:
        """The command that replays the failure with this id from the current folder."""
        here = self.folder.absolute() == Path.cwd() / FOLDER
        return ["videodecode", "replay", name if here else str(self.folder / name)]

    def names(self) -> list[str]:
        """The ids of all failures kept, the one met last at the end."""
        return [path.name for path in self._folders()]

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self.folder.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(self.folder / ".lock", timeout=_LOCK_LIMIT_S):
            yield

    def _write(self, target: Path, recipe: Recipe, damaged: Path, failure: Failure) -> None:
        new = self.folder / f".new-{secrets.token_hex(8)}"
        new.mkdir()
        try:
            write_recipe(recipe, new / RECIPE)
            _write_failure(failure, new)
            if damaged.stat().st_size <= MAX_FILE:
                shutil.copyfile(damaged, new / f"{DAMAGED}{damaged.suffix}")
            os.rename(new, target)
        finally:
            shutil.rmtree(new, ignore_errors=True)

    def _count_again(self, target: Path) -> None:
        try:
            before = read_failure(target)
        except VideodecodeError:  # edited by hand; it stays as it is
            return
        _write_failure(replace(before, count=before.count + 1), target)

    def _make_room(self, new: OutcomeClass) -> None:
        folders = self._folders()
        if len(folders) < self._limit:
            return
        classes = {folder: _class_of(folder) for folder in folders}
        crowded = Counter(classes.values()).most_common(1)[0][0]
        chosen = new if new in classes.values() else crowded
        shutil.rmtree(next(folder for folder in folders if classes[folder] == chosen))

    def _folders(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        folders = [path for path in self.folder.iterdir() if path.is_dir() and not path.name.startswith(".")]
        return sorted(folders, key=lambda path: path.stat().st_mtime_ns)  # counting again renews it


def read_failure(folder: Path) -> Failure:
    """What came of the failure kept in ``folder``.

    Raises:
        DamageError: its ``outcome.json`` cannot be read.
        FormError: that is not what ``keep`` writes.
    """
    path = folder / OUTCOME
    try:
        text = path.read_bytes()
    except OSError as error:
        raise DamageError(f"{path}: cannot be read ({error.strerror}); give the folder of a failure") from None
    failure = loads(Failure, text, str(path))
    if failure.schema != SCHEMA:
        raise FormError(f"{path}: of schema {failure.schema[:40]!r}; this version reads {SCHEMA!r}")
    return failure


def damaged_file(folder: Path) -> Path | None:
    """The damaged file in the folder of a failure; None where it was too large to be kept."""
    return next(folder.glob(f"{DAMAGED}*"), None)


def _write_failure(failure: Failure, folder: Path) -> None:
    write_whole(folder / OUTCOME, (json.dumps(to_json(failure), indent=1) + "\n").encode("ascii"))


def _class_of(folder: Path) -> OutcomeClass | None:
    try:
        return read_recipe(folder / RECIPE).came
    except VideodecodeError:
        return None
