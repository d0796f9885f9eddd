"""Damage: a list of operators, and a clip's bytes with it."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.damage.base import Context, Operator
from pytest_videodecode.damage.mapping import map_bytes, read_bytes
from pytest_videodecode.damage.operators import (
    Burst,
    DamageHeader,
    FlipBits,
    FlipBytes,
    Insert,
    Scatter,
    Splice,
    Truncate,
    Zero,
)
from pytest_videodecode.damage.packets import DropPacket, DuplicatePacket, PacketOperator, SwapPackets
from pytest_videodecode.errors import DamageError, FormError
from pytest_videodecode.jsonform import from_json, to_json
from pytest_videodecode.model import Clip, ClipSpec

AnyOperator = (
    FlipBytes
    | FlipBits
    | Scatter
    | Burst
    | Zero
    | Truncate
    | Insert
    | DropPacket
    | DuplicatePacket
    | SwapPackets
    | DamageHeader
    | Splice
)

#: Every operator by its name in JSON.
OPERATORS: dict[str, type[Operator]] = {kind.name(): kind for kind in AnyOperator.__args__}


@dataclass(frozen=True, slots=True)
class Damage:
    """Operators, applied one after another; none at all leaves the clip as it is.

    Those on packets come first: they need a valid file.
    """

    operators: tuple[AnyOperator, ...] = ()

    def __post_init__(self) -> None:
        on_packets = [isinstance(operator, PacketOperator) for operator in self.operators]
        if on_packets != sorted(on_packets, reverse=True):
            raise ValueError("operators on packets need a valid file; put them before those on bytes")

    def apply(self, data: bytes, context: Context) -> bytes:
        """``data``, the undamaged bytes of a clip, with this damage.

        Raises:
            DamageError: one of the operators does not fit the clip.
        """
        for operator in self.operators:
            data = operator.apply(data, context)
        return data

    def __str__(self) -> str:
        return ", ".join(map(str, self.operators)) or "no damage"


def damaged_bytes(clip: Clip, damage: Damage, cache: ClipCache | None = None) -> bytes:
    """The bytes of ``clip`` with ``damage``; ``cache`` makes the clips that a ``splice`` names.

    Raises:
        DamageError: the clip is absent or empty, or the damage does not fit it.
    """
    data = read_bytes(clip)

    def other(text: str) -> bytes:
        return read_bytes((cache or ClipCache()).clip(ClipSpec.parse(text)))

    try:
        return damage.apply(data, Context(map=map_bytes(data), other=other))
    except DamageError as error:
        raise DamageError(f"clip {clip.name}: {error}") from None


def write_damaged(clip: Clip, damage: Damage, folder: Path, cache: ClipCache | None = None) -> Path:
    """Write the damaged clip into ``folder``; equal clips and damages have the same name there.

    Raises:
        DamageError: as ``damaged_bytes``, and where the folder cannot be written to.
    """
    content = damaged_bytes(clip, damage, cache)
    name = digest([hashlib.sha256(read_bytes(clip)).hexdigest(), damage])
    return write_whole(folder / (name + Path(clip.path).suffix), content)


def damage_from_json(data: Any, where: str = "damage") -> Damage:
    """Damage from builtin types, as ``to_json`` writes it; ``FormError`` names the place of a fault."""
    _check_operators(data, where)
    return from_json(Damage, data, where)


def digest(value: Any) -> str:
    """16 hexadecimal digits that stand for ``value``, which has a JSON form."""
    return hashlib.sha256(json.dumps(to_json(value), sort_keys=True).encode()).hexdigest()[:16]


def write_whole(path: Path, content: bytes) -> Path:
    """Write ``content`` to ``path``, whole or not at all; ``DamageError`` where that is not possible."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=path.parent) as scratch:
            part = Path(scratch) / path.name
            part.write_bytes(content)
            os.replace(part, path)
    except OSError as error:
        raise DamageError(f"{path}: cannot be written ({error.strerror}); give a folder to write in") from None
    return path


def _check_operators(damage: Any, where: str) -> None:
    # jsonform tries every operator in turn and can only report why the first one did not fit
    operators = damage.get("operators") if isinstance(damage, Mapping) else None
    for number, data in enumerate(operators if isinstance(operators, list) else ()):
        place = f"{where}.operators[{number}]"
        name = data.get("op") if isinstance(data, Mapping) else None
        if not isinstance(name, str) or name not in OPERATORS:
            shown = repr(name)[:40]
            raise FormError(f"{place}: unknown op {shown}; known are {', '.join(OPERATORS)}")
        from_json(OPERATORS[name], data, place)
