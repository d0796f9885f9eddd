"""What parent and child say to each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_videodecode.loading import LoadRequest
from pytest_videodecode.model import ErrorInfo


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A request for the class ``target`` (``module:Class``), with the options of its spec."""

    target: str
    request: LoadRequest
    cameras: tuple[str, ...]
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class End:
    """The last line of a reply: the error that ended it, None where it came to its end, and the loader's form."""

    error: ErrorInfo | None = None
    takes: tuple[str, ...] = ()
    resumes: bool = False
