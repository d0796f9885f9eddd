"""Frozen dataclasses to JSON and back, strictly.

Recipes, requests and reports come from files that nobody vouches for, so reading is by declared type only: an
unknown field, a missing field or a value of another type is a ``FormError`` that says where.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import re
import sys
import types
import typing
from collections.abc import Mapping
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from pytest_videodecode.errors import FormError

T = TypeVar("T")

#: ``dataclasses.field(metadata=NOT_JSON)`` keeps a field (pixels, callables) out of the JSON form.
NOT_JSON: Mapping[str, bool] = types.MappingProxyType({"json": False})

#: A fraction as text. ``Fraction`` itself takes ``1e999999999`` too, and never comes back.
_FRACTION = re.compile(r"[+-]?[0-9]{1,40}(/0*[1-9][0-9]{0,39}|\.[0-9]{1,40})?")

#: Longest text read as JSON; every document of this package is far below it.
MAX_TEXT = 64 * 1024 * 1024


def to_json(value: Any, *, brief: bool = False) -> Any:
    """``value`` as builtin types that ``json.dumps`` takes: dataclasses become dicts, fractions ``"n/d"``.

    ``brief`` leaves out fields that have their default; reading puts it back.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        shown = [(f.name, getattr(value, f.name), f.default) for f in _json_fields(type(value))]
        return {
            name: to_json(part, brief=brief)
            for name, part, default in shown
            if not brief or (part is not default and part != default)
        }
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): to_json(item, brief=brief) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [to_json(item, brief=brief) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)  # JSON has no nan or inf; requests may well ask for them
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise FormError(f"cannot write a {type(value).__name__} as JSON; use builtin types")


def from_json(cls: type[T], data: Any, where: str = "") -> T:
    """An instance of ``cls`` (a dataclass of this package) from ``data``, as ``to_json`` writes it.

    Raises:
        FormError: naming the place and what was expected there.
    """
    return typing.cast("T", _read(cls, data, where or cls.__name__))


def loads(cls: type[T], text: str | bytes, where: str = "") -> T:
    """``from_json`` on JSON text; text that is no JSON, or too long, is a ``FormError`` too."""
    return from_json(cls, parse(text, where or cls.__name__), where)


def parse(text: str | bytes, where: str) -> Any:
    """JSON text as builtin types, with a ``FormError`` where ``json`` would raise its own."""
    if len(text) > MAX_TEXT:
        raise FormError(f"{where}: {len(text)} bytes of JSON, more than the {MAX_TEXT} read here")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormError(f"{where}: not JSON ({error})") from None


@functools.cache
def _json_fields(cls: Any) -> tuple[dataclasses.Field[Any], ...]:
    return tuple(f for f in dataclasses.fields(cls) if f.metadata.get("json", True))


@functools.cache
def _form(kind: Any) -> tuple[Any, Any]:
    """What ``kind`` is read as, and of what: worked out once, because requests are read all the time."""
    origin, of = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return typing.Union, of
    if origin is tuple:
        return tuple, of[0]
    if origin in (dict, Mapping):
        return dict, of[1]
    if dataclasses.is_dataclass(kind):
        fields = {f.name: f for f in _json_fields(typing.cast("Any", kind))}
        hints = typing.get_type_hints(kind)
        missing = dataclasses.MISSING
        required = [name for name, f in fields.items() if f.default is missing and f.default_factory is missing]
        return dataclasses, ({name: hints[name] for name in fields}, required)
    return kind, None


def _read(kind: Any, data: Any, where: str) -> Any:
    form, of = _form(kind)
    if form is Any:
        return data
    if form is typing.Union:
        return _read_union(of, data, where)
    if form is tuple:
        return tuple([_read(of, part, f"{where}[{i}]") for i, part in enumerate(_want(list, data, where))])
    if form is dict:
        return {key: _read(of, part, f"{where}.{key}") for key, part in _want(dict, data, where).items()}
    if form is dataclasses:
        return _read_dataclass(kind, of, data, where)
    return _read_scalar(kind, data, where)


def _read_dataclass(cls: Any, plan: tuple[dict[str, Any], list[str]], data: Any, where: str) -> Any:
    kinds, required = plan
    given = _want(dict, data, where)
    if unknown := sorted(given.keys() - kinds.keys()):
        raise FormError(f"{where}: unknown field {unknown[0]!r}; known are {', '.join(kinds)}")
    for name in required:
        if name not in given:
            raise FormError(f"{where}: field {name!r} is missing")
    values = {name: _read(kinds[name], part, f"{where}.{name}") for name, part in given.items()}
    try:
        return cls(**values)
    except (TypeError, ValueError) as error:
        raise FormError(f"{where}: {error}") from None


def _read_union(kinds: tuple[Any, ...], data: Any, where: str) -> Any:
    if data is None:
        if type(None) in kinds:
            return None
        raise FormError(f"{where}: null is not allowed here")
    faults = []
    for kind in kinds:
        if kind is type(None):
            continue
        try:
            return _read(kind, data, where)
        except FormError as fault:
            faults.append(fault)
    raise faults[0]


def _read_scalar(kind: Any, data: Any, where: str) -> Any:
    if kind is Fraction:
        if _FRACTION.fullmatch(_want(str, data, where)):
            return Fraction(data)
        raise FormError(f"{where}: expected a fraction such as '30000/1001', got {data!r:.80}")
    if isinstance(kind, type) and issubclass(kind, Enum):
        try:
            return kind(data)
        except ValueError:
            known = ", ".join(str(member.value) for member in kind)
            raise FormError(f"{where}: {data!r:.80} is none of {known}") from None
    if kind is float:
        if data in ("nan", "inf", "-inf"):
            return float(data)
        if isinstance(data, int) and not isinstance(data, bool) and abs(data) <= sys.float_info.max:
            return float(data)
    return _want(kind, data, where)


def _want(kind: type[Any], data: Any, where: str) -> Any:
    # bool is an int to isinstance, never to a reader of JSON
    if not isinstance(data, kind) or (isinstance(data, bool) and kind is not bool):
        raise FormError(f"{where}: expected {kind.__name__}, got {type(data).__name__}")
    return data
