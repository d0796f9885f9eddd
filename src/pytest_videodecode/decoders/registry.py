"""From a decoder spec to a decoder, importing only what the spec names."""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pytest_videodecode.decoders.base import LoadedDecoder
from pytest_videodecode.decoders.options import count
from pytest_videodecode.decoders.shapes import adapt
from pytest_videodecode.decoders.spec import DecoderSpec
from pytest_videodecode.errors import DecoderSpecError, Unsupported

#: Registered name → what to ``pip install`` for it. Each is a module of this package with a function ``make``.
REGISTERED: Mapping[str, str] = {
    "production": "av",
    "pyav": "av",
    "ffmpeg": "imageio-ffmpeg",
    "lerobot": "lerobot",
    "torchcodec": "torch torchcodec",
    "opencv": "opencv-python-headless",
    "decord": "decord2",
}


def load(spec: DecoderSpec) -> LoadedDecoder:
    """The decoder that ``spec`` names, in this interpreter, under the name ``str(spec)``.

    Raises:
        DecoderSpecError: an unknown name, no such module, no such member, a shape that is not recognised, an
            option that does not fit, a module that raises when it is imported.
        Unsupported: a registered decoder whose package is not installed here.
    """
    if ":" in spec.target:
        decoder = adapt(_member(spec.target), spec.target, spec.options)
    elif spec.target in REGISTERED:
        decoder = _registered(spec.target, spec.options)
    else:
        raise _unknown(spec.target)

    info, defaults = replace(decoder.info, name=str(spec)), dict(decoder.defaults)
    if "threads" in spec.options:
        if not info.threads_by:
            raise DecoderSpecError(
                f"{spec.target} has no thread count to be set by threads=…; "
                "where an environment variable sets it, name that by threads_env=NAME"
            )
        defaults["threads"] = count("threads", spec.options["threads"])
    if "threads" in defaults:
        info = replace(info, thread_cap=None)  # what it promises of its own accord no longer shows
    if "thread_cap" in spec.options:
        info = replace(info, thread_cap=count("thread_cap", spec.options["thread_cap"]))
    return replace(decoder, info=info, defaults=defaults)


def _registered(name: str, options: Mapping[str, str]) -> LoadedDecoder:
    try:
        module = importlib.import_module(f"pytest_videodecode.decoders.{name}")
        decoder: LoadedDecoder = module.make(options)
    except ImportError as error:
        raise Unsupported(
            f"decoder {name}: {_one_line(error)}; run: {sys.executable} -m pip install {REGISTERED[name]}"
        ) from error
    return decoder


def _member(target: str) -> Any:
    module_name, _, path = target.partition(":")
    found = _import(module_name, target)
    where = f"module {module_name}"
    for name in path.split("."):
        try:
            found, where = getattr(found, name), f"{where}'s {name}"
        except AttributeError:
            raise DecoderSpecError(f"decoder {target}: {where} has no {name!r}; {_functions(found, name)}") from None
    return found


def _functions(holder: Any, name: str) -> str:
    public = [other for other in dir(holder) if other[0] != "_" and callable(getattr(holder, other, None))]
    if near := difflib.get_close_matches(name, public, 1):
        return f"did you mean {near[0]}?"
    return f"its functions are {', '.join(public[:8])}{', …' * (len(public) > 8)}" if public else "it has none"


def _import(name: str, target: str) -> Any:
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing and f"{name}.".startswith(f"{missing}."):
            raise DecoderSpecError(
                f"decoder {target}: no module named {missing!r} in the current directory or among the packages "
                f"of {sys.executable}; check the name, or put its folder on PYTHONPATH"
            ) from None
        raise DecoderSpecError(
            f"decoder {target}: importing {name} raised {type(error).__name__}: {_one_line(error)}; "
            "see that the module imports by itself"
        ) from error


def _unknown(name: str) -> DecoderSpecError:
    module, dot, member = name.rpartition(".")
    near = difflib.get_close_matches(name, REGISTERED, 1)
    meant = f"{module}:{member}" if dot else next(iter(near), "")
    hint = f" (did you mean {meant}?)" if meant else ""
    return DecoderSpecError(
        f"decoder {name!r} is unknown{hint}; registered are {', '.join(REGISTERED)}; "
        "a function of yours is named module:function"
    )


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]
