"""What all operators share: a name for JSON, bounds, and the way from a region's offset to the file's bytes.

Regions, offsets and sizes are those of the undamaged clip, whatever operators went before. Where one of those changed
the file's length, the bytes behind it have moved under the regions; places beyond the end of the file as it then is
are left alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields

from pytest_videodecode.damage.regions import ByteMap, Region, packet_number
from pytest_videodecode.errors import DamageError

#: The highest offset or length that an operator holds: far above any clip.
MAX_NUMBER = 2**40
MAX_SEED = 2**32 - 1


@dataclass(frozen=True, slots=True)
class Context:
    """What an operator may look at besides the bytes it damages.

    ``map`` is that of the undamaged clip; ``other`` gives the undamaged bytes of the clip with this recipe text.
    """

    map: ByteMap
    other: Callable[[str], bytes]


@dataclass(frozen=True, kw_only=True, slots=True)
class Operator(ABC):
    """One thing done to a file. ``op`` is the operator's name, by which JSON tells operators apart."""

    op: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if self.op != self.name():
            raise ValueError(f"op is {self.op[:40]!r}, not {self.name()!r}")

    @classmethod
    def name(cls) -> str:
        """The operator's name, such as ``flip_bytes``."""
        return str(next(each.default for each in fields(cls) if each.name == "op"))

    @abstractmethod
    def apply(self, data: bytes, context: Context) -> bytes:
        """``data`` with this damage.

        Raises:
            DamageError: the damage does not fit the clip (an empty region, an offset outside it).
        """


@dataclass(frozen=True, kw_only=True, slots=True)
class Aimed(Operator):
    """An operator on one region."""

    region: str = "media"

    def __post_init__(self) -> None:
        Operator.__post_init__(self)
        packet_number(self.region)

    def apply(self, data: bytes, context: Context) -> bytes:
        changed = bytearray(data)
        self._change(changed, context.map.region(self.region))
        return bytes(changed)

    @abstractmethod
    def _change(self, data: bytearray, region: Region) -> None:
        """Damage ``data`` in place."""

    def _inside(self, region: Region, offset: int, length: int = 1) -> None:
        if offset + length > region.size:
            what = f"offset {offset} is" if length == 1 else f"{length} bytes at offset {offset} are"
            raise DamageError(f"{self.op}: {what} outside region {region.name!r}, which has {region.size} bytes")

    def _overwrite(self, data: bytearray, region: Region, offset: int, content: bytes) -> None:
        self._inside(region, offset, len(content))
        for start, stop in region.span(offset, len(content)):
            part, content = content[: stop - start], content[stop - start :]
            fits = max(0, min(stop, len(data)) - start)
            data[start : start + fits] = part[:fits]


def within(name: str, value: int, low: int, high: int = MAX_NUMBER) -> None:
    """Raise ``ValueError`` unless ``low <= value <= high``."""
    if not low <= value <= high:
        raise ValueError(f"{name} is outside {low} to {high}")


def share(name: str, value: float) -> None:
    """Raise ``ValueError`` unless ``0 <= value < 1``."""
    if not 0 <= value < 1:
        raise ValueError(f"{name} is {value:g}; give 0 to below 1")


def counted(number: int, noun: str) -> str:
    """``1 byte``, ``2 bytes``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
