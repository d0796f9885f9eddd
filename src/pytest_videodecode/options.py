"""Every setting once: its name, its words of help, how its text is read. Plugin, marker and shell all read this."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from pytest_videodecode.errors import OptionError

PREFIX = "videodecode"


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """What a run does. The defaults are the main job: the production reader on three codecs."""

    decoder: tuple[str, ...] = ("production",)
    codecs: tuple[str, ...] = ("av1", "h264", "mpeg4")
    checks: tuple[str, ...] = ()  # empty: all
    threads: tuple[int, ...] = (0, 1, 2, 4)
    timeout: float = 20.0
    memory: int = 4096
    clips: tuple[str, ...] = ()
    corpus: tuple[str, ...] = ()
    expected: str = ""
    require: tuple[str, ...] = ()
    report: str = ""
    seed: int = 0
    threads_env: str = ""
    twin: str = ""
    allowed_errors: tuple[str, ...] = ()  # empty: those of checks.base
    loader: tuple[str, ...] = ()
    processes: int | None = None  # None: one per core
    seconds: float = 5.0
    baseline: str = ""
    against: str = ""
    limits: tuple[tuple[str, float], ...] = ()
    benchmark_json: str = ""

    def with_texts(self, given: Mapping[str, Any], said_by: Callable[[str], str]) -> Settings:
        """These settings with ``given`` ones (texts, or lists of texts) in their place.

        ``said_by`` turns the name of a setting into what the user wrote (``--videodecode-threads``), for errors.
        """
        values = {}
        for name, value in given.items():
            option = BY_NAME.get(name)
            if option is None:
                raise OptionError(f"{said_by(name)}: no such setting; known are {', '.join(BY_NAME)}")
            try:
                values[name] = option.read(value)
            except (ValueError, TypeError) as error:
                raise OptionError(f"{said_by(name)}: {error}") from None
        return replace(self, **values)


@dataclass(frozen=True, kw_only=True, slots=True)
class Option:
    """One setting as the user meets it. ``read`` takes a text, or several where the option may be repeated.

    ``whole_run`` marks what one test cannot have for itself.
    """

    name: str
    help: str
    metavar: str
    read: Callable[[Any], Any]
    repeatable: bool = False
    is_path: bool = False
    whole_run: bool = False

    @property
    def flag(self) -> str:
        """``--videodecode-threads-env``"""
        return f"--{PREFIX}-{self.name.replace('_', '-')}"

    @property
    def ini(self) -> str:
        """``videodecode_threads_env``, also the name that argparse stores it under."""
        return f"{PREFIX}_{self.name}"

    @property
    def help_text(self) -> str:
        """The help with the default, where there is one."""
        default = _DEFAULTS[self.name]
        shown = ",".join(map(str, default)) if isinstance(default, tuple) else "" if default is None else str(default)
        return f"{self.help} (default: {shown})" if shown else self.help


def _texts(value: Any) -> tuple[str, ...]:
    """``"a,b"`` or any mix of such texts and their lists, blanks dropped, each once."""
    if isinstance(value, str):
        return _once(part.strip() for part in value.split(","))
    if isinstance(value, Iterable):
        return _once(text for part in value for text in _texts(part))
    return (str(value),)


def _whole(value: Any) -> tuple[str, ...]:
    """Texts that may hold commas themselves (decoder specs, paths), one per line or item, each once."""
    if isinstance(value, (str, os.PathLike)):
        return _once(line.strip() for line in str(value).splitlines())
    if isinstance(value, Iterable):
        return _once(text for part in value for text in _whole(part))
    raise ValueError(f"{value!r} is no text; give one, or a list of them")


def _once(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text))


def _specs(value: Any) -> tuple[str, ...]:
    specs = _whole(value)
    if not specs:
        raise ValueError("give at least one decoder, such as production or module:function")
    return specs


def _processes(value: Any) -> int:
    return _number(value, 1, 4096, "no number of processes; give a whole number from 1 to 4096")


def _limits(value: Any) -> tuple[tuple[str, float], ...]:
    """``"cpu_per_sample=1.15,threads_per_process=1"``, lists of such texts, or a mapping."""
    if isinstance(value, Mapping):
        value = [f"{name}={limit}" for name, limit in value.items()]
    limits = {}
    for text in _texts(value):
        name, _, number = text.partition("=")
        try:
            limits[name.strip()] = float(number)
        except ValueError:
            limits[name.strip()] = math.nan
        if not 0 < limits[name.strip()] <= 1e6:
            raise ValueError(f"{text!r} is no limit; give METRIC=NUMBER above 0, such as cpu_per_sample=1.15")
    return tuple(limits.items())


def _counts(value: Any) -> tuple[int, ...]:
    form = "no thread count; give whole numbers from 0 (automatic) to 256"
    counts = tuple(_number(text, 0, 256, form) for text in _texts(value))
    if not counts:
        raise ValueError("give at least one thread count, such as 0,1,2,4")
    return tuple(dict.fromkeys(counts))


def _seconds(value: Any) -> float:
    try:
        seconds = float(value)
    except (ValueError, TypeError):
        seconds = math.nan
    if not 0 < seconds <= 86400:
        raise ValueError(f"{value!r} is no limit; give seconds above 0, at most 86400")
    return seconds


def _mebibytes(value: Any) -> int:
    return _number(value, 64, 1 << 20, "no limit; give MiB from 64 to 1048576")


def _seed(value: Any) -> int:
    return _number(value, 0, (1 << 32) - 1, "no seed; give a whole number from 0 to 4294967295")


def _number(value: Any, least: int, most: int, form: str) -> int:
    text = str(value).strip()
    if not (text.isascii() and text.isdigit()) or len(text) > 10 or not least <= int(text) <= most:
        raise ValueError(f"{text!r} is {form}")
    return int(text)


def _variable(value: Any) -> str:
    text = str(value).strip()
    if text and not text.isidentifier():
        raise ValueError(f"{text!r} is no name of an environment variable; give one such as VIDEO_DECODE_THREADS")
    return text


def _classes(value: Any) -> tuple[str, ...]:
    names = _texts(value)
    for name in names:
        if not all(part.isidentifier() for part in name.split(".")):
            raise ValueError(
                f"{name!r} is no class; give builtins such as ValueError, or names such as av.FFmpegError"
            )
    return names


def _spec(value: Any) -> str:
    return str(value).strip()


def _paths(value: Any) -> tuple[str, ...]:
    paths = _whole(value)
    for path in paths:
        if not os.path.exists(path):
            raise ValueError(f"there is no {path}; give a folder of video files, or a file")
    return paths


def _folders(value: Any) -> tuple[str, ...]:
    folders = _whole(value)
    for folder in folders:
        if not os.path.isdir(folder):
            raise ValueError(f"there is no folder {folder}; give one of recipes")
    return folders


def _file(value: Any) -> str:
    text = str(value).strip()
    if text and not os.path.isfile(text):
        raise ValueError(f"there is no file {text}; give a TOML file of [[expected]] tables")
    return text


def _new_file(value: Any) -> str:
    text = str(value).strip()
    if os.path.isdir(text):
        raise ValueError(f"{text} is a folder; give a file that is there or can be made")
    return text


def _folder(value: Any) -> str:
    text = str(value).strip()
    if os.path.exists(text) and not os.path.isdir(text):
        raise ValueError(f"{text} is no folder; give one that is there or can be made")
    return text


OPTIONS = (
    Option(
        name="decoder",
        help="Decoder to test: NAME[,option=value...][@PYTHON], NAME registered or module:function. Repeatable.",
        metavar="SPEC",
        read=_specs,
        repeatable=True,
    ),
    Option(
        name="codecs",
        help="Generated clips: codecs, recipes such as h264:bframes=2, or names of 'videodecode clip'; empty for none",
        metavar="LIST",
        read=_texts,
    ),
    Option(name="checks", help="Checks to run (default: all)", metavar="LIST", read=_texts),
    Option(name="threads", help="Thread counts of the parity checks, 0 is automatic", metavar="LIST", read=_counts),
    Option(name="timeout", help="Seconds that one decode may take before it is a hang", metavar="S", read=_seconds),
    Option(
        name="memory",
        help="MiB that a worker may use before it is out of memory",
        metavar="MIB",
        read=_mebibytes,
        whole_run=True,
    ),
    Option(
        name="clips",
        help="Folder of real video files, or one file; FFmpeg's command line says what they show. Repeatable.",
        metavar="PATH",
        read=_paths,
        repeatable=True,
        is_path=True,
    ),
    Option(
        name="corpus",
        help="Folder of recipes to replay besides those that ship; their clips lie in 'clips' beside it. Repeatable.",
        metavar="DIR",
        read=_folders,
        repeatable=True,
        is_path=True,
    ),
    Option(
        name="expected",
        help="TOML file of verdicts that are known to be otherwise",
        metavar="FILE",
        read=_file,
        is_path=True,
        whole_run=True,
    ),
    Option(
        name="require",
        help="Codecs, checks, clips or decoders that must not be unsupported, or 'all'",
        metavar="LIST",
        read=_texts,
        repeatable=True,
    ),
    Option(
        name="report",
        help="Folder that results.json and the other files of the report are written to",
        metavar="DIR",
        read=_folder,
        is_path=True,
        whole_run=True,
    ),
    Option(name="seed", help="Seed of everything random", metavar="N", read=_seed),
    Option(
        name="threads_env",
        help="Environment variable that carries a thread count to a module:function decoder",
        metavar="NAME",
        read=_variable,
    ),
    Option(name="twin", help="Second decoder, whose outcomes on damage must be the same", metavar="SPEC", read=_spec),
    Option(
        name="allowed_errors",
        help="Errors that a damaged file may raise, builtins or qualified names (default: av.FFmpegError,"
        "ValueError,RuntimeError,IndexError,EOFError,OSError)",
        metavar="LIST",
        read=_classes,
    ),
    Option(name="loader", help="Loader to test: NAME or module:Class", metavar="SPEC", read=_whole, repeatable=True),
    Option(
        name="processes", help="Processes that decode at once (default: one per core)", metavar="N", read=_processes
    ),
    Option(name="seconds", help="Seconds that one decoder is measured on one codec", metavar="S", read=_seconds),
    Option(
        name="baseline",
        help="JSON file of earlier figures that throughput is held against",
        metavar="FILE",
        read=_new_file,
        is_path=True,
        whole_run=True,
    ),
    Option(
        name="against",
        help="Decoder to compare with, in interleaved rounds",
        metavar="SPEC",
        read=_spec,
        whole_run=True,
    ),
    Option(
        name="limits",
        help="METRIC=NUMBER: how many times its baseline a metric may be, such as cpu_per_sample=1.15. Repeatable.",
        metavar="LIST",
        read=_limits,
        repeatable=True,
    ),
    Option(
        name="benchmark_json",
        help="File that throughput is written to in the format of pytest-benchmark",
        metavar="FILE",
        read=_new_file,
        is_path=True,
        whole_run=True,
    ),
)

BY_NAME = {option.name: option for option in OPTIONS}

_DEFAULTS = {field.name: field.default for field in fields(Settings)}
