"""The text that names a decoder: ``NAME[,option=value…][@PYTHON]``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pytest_videodecode.errors import DecoderSpecError

#: Said at the end of every message about a malformed spec.
FORM = "write NAME[,option=value…][@PYTHON], NAME a registered decoder or module:function"

_NAME = re.compile(r"[A-Za-z_][\w-]*")


@dataclass(frozen=True)
class DecoderSpec:
    """A decoder by name, its options as text, and the interpreter its worker runs in (None: this one).

    ``target`` is a registered name or ``module:function``, where the function may be dotted
    (``module:Class.method``). ``python`` stays as it was given. ``str(spec)`` is the text again; neither commas
    nor ``@`` can be part of a value.
    """

    target: str
    options: Mapping[str, str] = field(default_factory=dict, hash=False)
    python: str | None = None

    def __str__(self) -> str:
        options = "".join(f",{name}={value}" for name, value in self.options.items())
        return f"{self.target}{options}{'' if self.python is None else f'@{self.python}'}"

    def with_threads_env(self, variable: str) -> DecoderSpec:
        """This spec with ``variable`` to carry the thread count of the function of the user that it names.

        Unchanged where it names a registered decoder or has a variable of its own, and where ``variable`` is empty.
        """
        if not variable or ":" not in self.target or "threads_env" in self.options:
            return self
        return replace(self, options={**self.options, "threads_env": variable})


def parse(text: str) -> DecoderSpec:
    """``text`` as a ``DecoderSpec``; whether something of that name exists is not asked here.

    Raises:
        DecoderSpecError: for malformed text, with the accepted form.
    """
    head, python = _split_python(text)
    target, *parts = (part.strip() for part in head.split(","))
    _check_target(target, text)
    options: dict[str, str] = {}
    for part in parts:
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not name.isidentifier():
            raise _malformed(text, f"{part!r} is no option=value")
        if name in options:
            raise _malformed(text, f"the option {name!r} is given twice")
        options[name] = value
    return DecoderSpec(target, options, python)


def _split_python(text: str) -> tuple[str, str | None]:
    head, at, python = text.rpartition("@")
    if at and python.strip():
        return head, python.strip()
    return text, None


def _check_target(target: str, text: str) -> None:
    if not target:
        raise _malformed(text, "the name is empty")
    module, colon, member = target.partition(":")
    if not colon:
        # a dotted name is let through: that the colon is missing is worth a message of its own
        if not _NAME.fullmatch(target) and not _dotted(target):
            raise _malformed(text, f"{target!r} is no name")
    elif not _dotted(module):
        raise _malformed(text, f"{module!r} is no importable module name")
    elif not _dotted(member):
        raise _malformed(text, f"{member!r} is no function name")


def _dotted(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))


def _malformed(text: str, fault: str) -> DecoderSpecError:
    return DecoderSpecError(f"decoder {text!r}: {fault}; {FORM}")
