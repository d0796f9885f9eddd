"""Functions under test: recognised by the names of their parameters, and called as they want to be called."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_videodecode.decoders.base import LoadedDecoder, open_source
from pytest_videodecode.decoders.normalise import to_frames
from pytest_videodecode.decoders.options import COMMON, count, scalar
from pytest_videodecode.decoders.pyav_log import log_level
from pytest_videodecode.decoders.sizes import SizeFinder
from pytest_videodecode.decoders.versions import loaded_versions
from pytest_videodecode.errors import DecoderSpecError
from pytest_videodecode.model import DecodeRequest, DecoderInfo

#: What a parameter means, by its name; where several fit, the first counts.
ROLES: Mapping[str, tuple[str, ...]] = {
    "path": ("video_path", "path", "filename", "file", "video", "uri"),
    "indices": ("frame_indices", "indices", "frame_ids", "frames"),
    "timestamps": ("timestamps", "timestamps_s", "times"),
    "tolerance": ("tolerance_s", "tolerance"),
    "threads": ("threads", "num_threads", "thread_count", "num_ffmpeg_threads", "n_threads"),
    "height": ("height",),
    "width": ("width",),
}

SHAPES = (
    "(video_path, timestamps, tolerance_s, …) as LeRobot has it, (video_path, frame_indices, height, width) as "
    "OpenWAM has it, (path, indices) and (path, timestamps)"
)

_SET_BY_REQUEST = ("path", "indices", "timestamps", "height", "width")


@dataclass(frozen=True, kw_only=True)
class FunctionDecoder:
    """A function of a recognised shape.

    ``roles`` maps a meaning to the parameter that has it, ``constants`` are arguments from the decoder spec,
    ``threads_env`` names the environment variable that sets the thread count, where that is the way.
    """

    function: Callable[..., Any]
    signature: inspect.Signature
    roles: Mapping[str, str]
    constants: Mapping[str, Any]
    threads_env: str = ""
    size_of: SizeFinder = field(default_factory=SizeFinder)

    @property
    def threads_by(self) -> str:
        """How a thread count reaches the function, in words; empty where it cannot."""
        if self.threads_env:
            return f"environment variable {self.threads_env}"
        return f"parameter {self.roles['threads']}" if "threads" in self.roles else ""

    def decode(self, request: DecodeRequest) -> NDArray[np.uint8]:
        """One call of the function, its result as RGB frames."""
        with (
            log_level(request.log_level),
            _thread_variable(self.threads_env, request.threads),
            open_source(request) as source,
        ):
            bound = inspect.BoundArguments(self.signature, self._arguments(request, source))
            return to_frames(self.function(*bound.args, **bound.kwargs))

    def _arguments(self, request: DecodeRequest, source: Any) -> Any:
        meant: dict[str, Any] = {"path": source, "tolerance": request.tolerance_s}
        if request.indices is not None:
            meant |= {"indices": list(request.indices), "timestamps": None}
        else:
            meant |= {"indices": None, "timestamps": list(request.timestamps or ())}
        if request.threads is not None and not self.threads_env:
            meant["threads"] = request.threads
        if "height" in self.roles:
            meant["height"], meant["width"] = self.size_of(request.path)
        parameters = self.signature.parameters
        named = {self.roles[role]: value for role, value in meant.items() if role in self.roles}
        # of two ways to ask, the one not taken keeps the function's own default
        asked = {name: value for name, value in named.items() if value is not None or _required(parameters[name])}
        return asked | dict(self.constants)


def adapt(
    function: Callable[..., Any], label: str, options: Mapping[str, str], opens_as: tuple[str, ...] = ("path",)
) -> LoadedDecoder:
    """A decoder that calls ``function``; ``label`` names it in messages.

    The option ``threads_env`` names the environment variable by which its thread count is set (unset where none
    is asked); an option with the name of a parameter becomes that argument.

    Raises:
        DecoderSpecError: for a shape that is not recognised, or an option that the function does not take.
    """
    signature = _signature(function, label)
    given = {name: text for name, text in options.items() if name not in COMMON}
    threads_env = given.pop("threads_env", "")
    if "threads_env" in options and not threads_env.isidentifier():
        raise DecoderSpecError(f"{label}: threads_env={threads_env} does not name an environment variable")
    roles = _roles(signature)
    threads = given.pop(roles.get("threads", ""), options.get("threads"))
    defaults = {} if threads is None else {"threads": count("threads", threads)}
    arguments = _constants(label, signature, roles, given)
    if fault := _fault(signature, roles, arguments, has_threads=bool(defaults)):
        raise _unrecognised(label, f"its parameters are {signature}: {fault}")
    decoder = FunctionDecoder(
        function=function, signature=signature, roles=roles, constants=arguments, threads_env=threads_env
    )
    info = DecoderInfo(
        name=label,
        asks=tuple(role for role in ("indices", "timestamps") if role in roles),
        threads_by=decoder.threads_by,
        opens_as=opens_as,
        log_levels="av" in sys.modules,
        resizes="height" in roles,
        versions=loaded_versions(),
    )
    return LoadedDecoder(info=info, run=decoder.decode, defaults=defaults)


def _signature(function: Any, label: str) -> inspect.Signature:
    if not callable(function):
        raise _unrecognised(label, f"it is an object of type {type(function).__name__}, not a function")
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        raise _unrecognised(label, "Python cannot say what its parameters are") from None


def _roles(signature: inspect.Signature) -> dict[str, str]:
    parameters = signature.parameters
    roles = {}
    for role, names in ROLES.items():
        if found := [name for name in names if name in parameters]:
            roles[role] = found[0]
    size = [parameters[roles[role]] for role in ("height", "width") if role in roles]
    if len(size) < 2 or all(parameter.default is None for parameter in size):
        roles.pop("height", None)  # left alone, such a function returns the clip's own size
        roles.pop("width", None)
    return roles


def _constants(
    label: str, signature: inspect.Signature, roles: Mapping[str, str], options: Mapping[str, str]
) -> dict[str, Any]:
    """The arguments that options set; those for ``**kwargs`` gathered under its name."""
    catch_all = next((p.name for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD), None)
    settable = [p.name for p in signature.parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    fixed = {roles[role] for role in _SET_BY_REQUEST if role in roles}
    arguments: dict[str, Any] = {}
    for name, text in options.items():
        if name in fixed:
            raise DecoderSpecError(f"{label}: the option {name!r} is set by every request; leave it out")
        if name in settable:
            arguments[name] = scalar(text)
        elif catch_all:
            arguments.setdefault(catch_all, {})[name] = scalar(text)
        else:
            known = ", ".join(name for name in settable if name not in fixed) or "none"
            raise DecoderSpecError(f"{label} has no parameter {name!r} for that option; it takes {known}")
    return arguments


def _fault(
    signature: inspect.Signature, roles: Mapping[str, str], constants: Mapping[str, Any], *, has_threads: bool
) -> str:
    """Why a function with these parameters cannot be called; empty when it can."""
    if "path" not in roles:
        return "none of them takes the path"
    if "indices" not in roles and "timestamps" not in roles:
        return "none of them takes frame indices or timestamps"
    # a required thread count has no value where none is asked
    set_always = {name for role, name in roles.items() if role != "threads" or has_threads} | set(constants)
    unknown = [p.name for p in signature.parameters.values() if _required(p) and p.name not in set_always]
    return f"{', '.join(unknown)} would have no value (give it as an option, name=value)" if unknown else ""


def _required(parameter: inspect.Parameter) -> bool:
    variable = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    return parameter.default is parameter.empty and not variable


def _unrecognised(label: str, found: str) -> DecoderSpecError:
    return DecoderSpecError(f"{label} has a shape that is not recognised; {found}; known shapes are {SHAPES}")


@contextmanager
def _thread_variable(name: str, threads: int | None) -> Iterator[None]:
    """The variable ``name`` as ``threads`` says, None meaning unset; what it was comes back afterwards."""
    if not name:
        yield
        return
    before = os.environ.pop(name, None)
    if threads is not None:
        os.environ[name] = str(threads)
    try:
        yield
    finally:
        os.environ.pop(name, None)
        if before is not None:
            os.environ[name] = before
