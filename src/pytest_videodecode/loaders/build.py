"""From a class and what is asked of it to a loader: arguments go to the parameters that the class has for them.

Loaders name the same things differently; ``ALIASES`` has the names. What a caller must have and the class has no
parameter for is an error, everything else is left out and told of.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pytest_videodecode.errors import LoaderSpecError

#: What is asked → the parameters that mean it, the first that a class has counts.
ALIASES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "buffer_size": ("buffer_size", "shuffle_buffer_size"),
        "decoder_cache_size": ("decoder_cache_size", "video_decoder_cache_size"),
        "video_decode_device": ("video_decode_device", "decode_device"),
    }
)

#: A value of an option in a spec, by its text; anything else is a text or a number.
_WORDS = {"true": True, "false": False, "none": None}


@dataclass(frozen=True, slots=True)
class Built:
    """A loader, the names of what was asked and left out, and the parameters that its class takes."""

    loader: Any
    left_out: tuple[str, ...]
    takes: tuple[str, ...]


def build(
    target: str, asked: Mapping[str, Any], *, must: Collection[str] = (), options: Mapping[str, str] | None = None
) -> Built:
    """The class ``target`` (``module:Class``) called with ``asked`` and the options of a spec.

    ``None`` among ``asked`` is left to the class's own default. What the class raises when it is called passes
    through.

    Raises:
        LoaderSpecError: no such module or class, an option it does not take, no parameter for one of ``must``.
    """
    make = find(target)
    names, open_ended = _parameters(make)
    arguments: dict[str, Any] = {}
    left_out = []
    for name, value in asked.items():
        taken = next((alias for alias in ALIASES.get(name, (name,)) if alias in names), None)
        if value is None:
            continue
        if taken is None and open_ended:
            taken = name
        if taken is not None:
            arguments[taken] = value
        elif name in must:
            raise LoaderSpecError(f"loader {target} has no parameter {name!r}; it takes {', '.join(names)}")
        else:
            left_out.append(name)
    for name, text in (options or {}).items():
        if name not in names and not open_ended:
            raise LoaderSpecError(f"loader {target} has no option {name!r}; it takes {', '.join(names)}")
        arguments[name] = _value(text)
    if "repo_id" in names and "repo_id" not in arguments and _required(make, "repo_id"):
        arguments["repo_id"] = "local/dataset"  # a name only, where the files are given by a folder
    return Built(make(**arguments), tuple(left_out), names)


def find(target: str) -> Callable[..., Any]:
    """The class or function that ``module:Class`` names.

    Raises:
        LoaderSpecError: what cannot be imported or is not there, with the reason in one line.
    """
    module, _, path = target.partition(":")
    try:
        found: Any = importlib.import_module(module)
    except (Exception, SystemExit) as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise LoaderSpecError(f"loader {target}: cannot import {module}: {said}") from error
    for name in path.split("."):
        found = getattr(found, name, None)
    if not callable(found):
        raise LoaderSpecError(f"loader {target}: module {module} has no class {path!r}")
    make: Callable[..., Any] = found
    return make


def _parameters(make: Callable[..., Any]) -> tuple[tuple[str, ...], bool]:
    kinds = inspect.Parameter
    parameters = inspect.signature(make).parameters.values()
    named = (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)
    return (
        tuple(parameter.name for parameter in parameters if parameter.kind in named),
        any(parameter.kind is kinds.VAR_KEYWORD for parameter in parameters),
    )


def _required(make: Callable[..., Any], name: str) -> bool:
    return inspect.signature(make).parameters[name].default is inspect.Parameter.empty


def _value(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text
