"""The recipe: everything needed to see again what a decoder made of a damaged clip."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_videodecode.damage.damage import Damage, damage_from_json, digest, write_whole
from pytest_videodecode.damage.mapping import read_bytes
from pytest_videodecode.errors import DamageError, FormError
from pytest_videodecode.jsonform import from_json, parse, to_json
from pytest_videodecode.model import Clip, DecodeRequest, Outcome, OutcomeKind

#: The form of a recipe; the number rises when an older reader would misread it.
SCHEMA = "videodecode-recipe/1"
#: The longest recipe that is read, in bytes.
MAX_RECIPE = 1024 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class OutcomeClass:
    """What two outcomes are compared by: the kind, and the type of the exception where there was one."""

    kind: OutcomeKind
    error: str = ""

    @classmethod
    def of(cls, outcome: Outcome) -> OutcomeClass:
        """The class of ``outcome``."""
        return cls(kind=outcome.kind, error=outcome.error.type if outcome.error else "")

    def __str__(self) -> str:
        return f"{self.kind} ({self.error})" if self.error else str(self.kind)


@dataclass(frozen=True, kw_only=True, slots=True)
class Recipe:
    """A damaged decode, for keeping: read back, it is the same decode again.

    ``clip`` is the name of a spec, or of a real file; ``sha256`` that of its undamaged bytes. ``request`` has an
    empty path. ``came`` is what the decoder made of it then, ``expected`` what it should.
    """

    schema: str = SCHEMA
    clip: str
    sha256: str
    damage: Damage
    request: DecodeRequest
    decoder: str
    note: str = ""
    came: OutcomeClass | None = None
    expected: OutcomeClass | None = None

    def __post_init__(self) -> None:
        if self.request.path:
            raise ValueError("the request of a recipe has no path; leave it empty")

    @classmethod
    def of(
        cls,
        clip: Clip,
        damage: Damage,
        request: DecodeRequest,
        decoder: str,
        *,
        note: str = "",
        came: OutcomeClass | None = None,
        expected: OutcomeClass | None = None,
    ) -> Recipe:
        """The recipe for ``request``, made of ``decoder`` on ``clip`` with ``damage``."""
        return cls(
            clip=clip.name,
            sha256=hashlib.sha256(read_bytes(clip)).hexdigest(),
            damage=damage,
            request=replace(request, path=""),
            decoder=decoder,
            note=note,
            came=came,
            expected=expected,
        )

    @property
    def id(self) -> str:
        """16 hexadecimal digits that stand for the decode, whatever came of it and is noted about it."""
        return digest(replace(self, note="", came=None, expected=None))

    def require(self, clip: Clip) -> None:
        """Raise ``DamageError`` unless ``clip`` is the one that this recipe was made for, byte for byte."""
        found = hashlib.sha256(read_bytes(clip)).hexdigest()
        if found == self.sha256:
            return
        remedy = (
            "its file differs here; use the file, or the library versions, with which the recipe was made"
            if clip.name == self.clip
            else f"give {self.clip}"
        )
        raise DamageError(
            f"a recipe for clip {self.clip} (sha256 {self.sha256[:12]}), not for {clip.name} ({found[:12]}): {remedy}"
        )


def write_recipe(recipe: Recipe, path: Path) -> Path:
    """Write ``recipe`` to ``path``, whole or not at all."""
    return write_whole(path, (json.dumps(to_json(recipe), indent=1) + "\n").encode("ascii"))


def read_recipe(path: Path) -> Recipe:
    """The recipe in the file ``path``.

    Raises:
        DamageError: the file cannot be read, or is longer than 1 MiB.
        FormError: it is not JSON, of another version, or not a recipe; the message names the place.
    """
    try:
        with path.open("rb") as file:
            text = file.read(MAX_RECIPE + 1)
    except OSError as error:
        raise DamageError(f"{path}: cannot be read ({error.strerror}); correct the path") from None
    if len(text) > MAX_RECIPE:
        raise DamageError(f"{path}: longer than the {MAX_RECIPE} bytes that a recipe may have; give a recipe")
    return recipe_from_json(parse(text, str(path)), str(path))


def recipe_from_json(data: Any, where: str = "recipe") -> Recipe:
    """A recipe from builtin types, as ``to_json`` writes it; ``FormError`` names the place of a fault."""
    schema = data.get("schema") if isinstance(data, Mapping) else None
    if schema != SCHEMA:
        shown = "a recipe" if schema is None else f"of schema {str(schema)[:40]!r}"
        raise FormError(f"{where}: not {shown} that can be read here; this version reads {SCHEMA!r}")
    damage_from_json(data.get("damage"), f"{where}.damage")  # its messages are better than those of a field's
    return from_json(Recipe, data, where)
