"""Where the rooms are put together: settings → clips, workers, checks → verdicts. Plugin and shell stand on this."""

from __future__ import annotations

import os
import shlex
import tempfile
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import TracebackType

from pytest_videodecode.checks import base, catalogue
from pytest_videodecode.checks.expected import Expected, compare, load_expected
from pytest_videodecode.checks.hang_limit import hang_limit
from pytest_videodecode.clips import rules
from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.clips.catalogue import CATALOGUE, specs_for
from pytest_videodecode.damage.damage import Damage, write_damaged
from pytest_videodecode.decoders import registry
from pytest_videodecode.decoders.spec import DecoderSpec, parse
from pytest_videodecode.errors import OptionError, Unsupported, VideodecodeError
from pytest_videodecode.isolation.pool import Workers
from pytest_videodecode.isolation.process import Limits
from pytest_videodecode.jsonform import to_json
from pytest_videodecode.model import (
    Clip,
    ClipSpec,
    DecodeRequest,
    DecoderInfo,
    Outcome,
    Status,
    Verdict,
)
from pytest_videodecode.options import Settings

_ENDINGS = (
    ".264 .265 .3gp .avi .flv .h264 .hevc .ivf .m2ts .m4v .mkv .mov .mp4 .mpeg .mpg .mts .obu .ogv .ts .vob .webm "
    ".wmv .y4m"
)

#: Endings of files that are taken from a folder of clips; a file that is named itself may have any.
VIDEO_ENDINGS = frozenset(_ENDINGS.split())


#: The checks in running order, and behind them the verdict on a worker that does not end.
WORKER_EXIT = "worker_exit"
CHECK_NAMES = (*catalogue.CHECKS, WORKER_EXIT)

#: Longest reason in characters; those that list what is known are long.
_LONGEST = 600

#: A clip before it is made or looked at: naming it costs nothing, so tests can be collected.
ClipSource = ClipSpec | Path


@dataclass(frozen=True, slots=True)
class Case:
    """One check of one decoder on one clip, still to be made."""

    decoder: str
    source: ClipSource
    check: str

    def __str__(self) -> str:
        return f"{self.decoder}-{self.source.name}-{self.check}"


class Session:
    """One run: its settings, its clips, its workers. Close it, or use it as a context."""

    def __init__(self, settings: Settings | None = None, folder: Path | None = None) -> None:
        self.settings = settings or Settings()
        self._folder = folder
        self._names: dict[str, str] = {}  # of a worker's decoder spec, as the user wrote it
        self._unusable: dict[str, VideodecodeError] = {}
        self._limits: dict[tuple[str, str], float] = {}  # by decoder and path of a clean clip

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @cached_property
    def clips(self) -> ClipCache:
        """Generated clips and the truth about real ones, kept across runs."""
        return ClipCache()

    @cached_property
    def workers(self) -> Workers:
        """The processes that requests are served in."""
        limits = Limits(decode_s=self.settings.timeout, memory=self.settings.memory << 20)
        journal = self._folder / ".videodecode" / "journal" if self._folder else None
        return Workers(limits, journal)

    @cached_property
    def _damaged(self) -> tempfile.TemporaryDirectory[str]:
        return tempfile.TemporaryDirectory(prefix="videodecode-", ignore_cleanup_errors=True)

    @cached_property
    def _expected(self) -> Sequence[Expected]:
        return _read_expected(self.settings)

    def spec(self, decoder: str) -> DecoderSpec:
        """A decoder spec with the settings that belong to it."""
        spec = parse(decoder)
        if self.settings.threads_env and ":" in spec.target and "threads_env" not in spec.options:
            spec = replace(spec, options={**spec.options, "threads_env": self.settings.threads_env})
        self._names[str(spec)] = decoder
        return spec

    def clip(self, source: ClipSource) -> Clip:
        """The clip of a recipe (made once), or of a real file (its truth is found out once)."""
        return self.clips.real(source) if isinstance(source, Path) else self.clips.clip(source)

    def info(self, decoder: str) -> DecoderInfo:
        """What a decoder says of itself. One that cannot be loaded is tried once, and raises the same error again."""
        spec = self.spec(decoder)
        if str(spec) not in self._unusable:
            try:
                return replace(self.workers.info(spec), name=decoder)
            except VideodecodeError as error:
                self._unusable[str(spec)] = error
        raise self._unusable[str(spec)]

    def decode(self, decoder: str, request: DecodeRequest, limit_s: float | None = None) -> Outcome:
        """One request in a worker of ``decoder``; raises only where no worker can be had."""
        self.info(decoder)
        return self.workers.decode(self.spec(decoder), request, self.settings.timeout if limit_s is None else limit_s)

    def check(self, check: str, decoder: str, source: ClipSource | Clip) -> Verdict:
        """One check of one decoder on one clip. Never raises for what either of them does."""
        function = catalogue.select([check])[0]
        name = source.name
        try:
            clip = source if isinstance(source, Clip) else self.clip(source)
            verdict = base.run(function, self._subject(decoder, clip))
        except Unsupported as error:
            verdict = _no_verdict(check, decoder, name, Status.UNSUPPORTED, str(error))
        except VideodecodeError as error:
            verdict = _no_verdict(check, decoder, name, Status.ERROR, str(error))
        except Exception as error:  # a fault of ours must cost one verdict, not the run
            verdict = replace(
                _no_verdict(check, decoder, name, Status.ERROR, f"{type(error).__name__}: {error}; please report it"),
                evidence={"traceback": traceback.format_exc(limit=-6)},
            )
        verdict = replace(verdict, replay=self._replay(check, decoder, source))
        return self._required(compare(verdict, self._expected))

    def _subject(self, decoder: str, clip: Clip) -> base.Subject:
        sources: dict[str, Clip] = {}  # by path: the clips made for this check, and those of its damaged files

        def variant(spec: ClipSpec) -> Clip:
            other = self.clips.clip(spec)
            return sources.setdefault(other.path, other)

        def damaged(damage: Damage) -> str:
            path = str(write_damaged(clip, damage, Path(self._damaged.name), self.clips))
            sources[path] = clip
            return path

        def decode(request: DecodeRequest) -> Outcome:
            source = sources.get(request.path)
            return self.decode(decoder, request, self._limit_s(decoder, source) if source else None)

        twin = self.settings.twin
        return base.Subject(
            decoder=self.info(decoder),
            clip=clip,
            decode=decode,
            threads=self.settings.threads,
            seed=self.settings.seed,
            twin=(lambda request: self.decode(twin, request)) if twin else None,
            variant=variant,
            damaged=damaged,
            allowed_errors=self.settings.allowed_errors or base.ALLOWED_ERRORS,
        )

    def _limit_s(self, decoder: str, clip: Clip) -> float:
        if (key := (decoder, clip.path)) not in self._limits:
            clean = base.Subject(decoder=self.info(decoder), clip=clip, decode=lambda r: self.decode(decoder, r))
            self._limits[key] = hang_limit(clean, self.settings.timeout)
        return self._limits[key]

    def _required(self, verdict: Verdict) -> Verdict:
        names = {"all", verdict.check, verdict.decoder, verdict.clip, verdict.clip.partition(":")[0]}
        if verdict.status is Status.UNSUPPORTED and not verdict.expected and names & set(self.settings.require):
            return replace(verdict, status=Status.FAILED, reason=f"required, but unsupported: {verdict.reason}")
        return verdict

    def _replay(self, check: str, decoder: str, source: ClipSource | Clip) -> str:
        if isinstance(source, Clip):
            source = source.spec if source.spec is not None else Path(source.path)
        command = ["videodecode", "check", decoder, "--checks", check]
        command += ["--clips", str(source), "--codecs", ""] if isinstance(source, Path) else ["--codecs", source.name]
        defaults = Settings()
        for option in ("threads", "threads_env", "seed", "timeout", "memory", "twin", "allowed_errors"):
            value = getattr(self.settings, option)
            if value != getattr(defaults, option):
                text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
                command += [f"--{option.replace('_', '-')}", text]
        return shlex.join(command)

    def close(self) -> list[Verdict]:
        """End the workers; one that does not end by itself is a failed verdict of ``worker_exit``."""
        workers: Workers | None = self.__dict__.pop("workers", None)
        hung = workers.close() if workers else []
        if damaged := self.__dict__.pop("_damaged", None):
            damaged.cleanup()
        return [
            Verdict(
                check=WORKER_EXIT,
                decoder=self._names[decoder],
                clip="",
                status=Status.FAILED,
                reason=f"its worker did not end by itself: {hang}; look for what the decoder keeps open or running",
                evidence=to_json(hang),
                replay=shlex.join(["videodecode", "check", self._names[decoder]]),
            )
            for decoder, hang in hung
        ]


def sources(settings: Settings) -> list[ClipSource]:
    """The clips that the settings name: generated ones, then real files.

    Raises:
        OptionError: for an unknown codec, a folder without video files, or no clip at all.
    """
    found: list[ClipSource] = [*_generated(settings.codecs), *_real(settings.clips)]
    if not found:
        raise OptionError("no clip is named; give codecs to generate some in, or clips (folders of videos, or files)")
    return found


def cases(settings: Settings) -> list[Case]:
    """Every decoder × clip × check of the settings, so ordered that a clip is used while it is fresh."""
    checks = [check.__name__ for check in catalogue.select(settings.checks)]
    clips = sources(settings)
    return [Case(decoder, clip, check) for decoder in settings.decoder for clip in clips for check in checks]


def source(text: str) -> ClipSource:
    """The clip that one text names: a codec, a recipe, a named clip, or else a file.

    Raises:
        OptionError, FormError: for a text that is none of them.
    """
    if text.partition(":")[0] not in rules.CODECS and text not in CATALOGUE:
        if os.path.exists(text) or Path(text).suffix.lower() in VIDEO_ENDINGS:
            return Path(text)
        raise OptionError(
            f"{text!r} is no clip; give a file, a codec ({', '.join(rules.CODECS)}), a recipe such as "
            "h264:bframes=2, or a name that 'videodecode clip' lists"
        )
    return _recipe(text)


def in_order(verdicts: Iterable[Verdict], settings: Settings) -> list[Verdict]:
    """In the order of ``cases``, however they came in; what the settings do not name comes last, by name."""
    order = [settings.decoder, [spec.name for spec in _generated(settings.codecs)], CHECK_NAMES]

    def place(verdict: Verdict) -> list[tuple[int, str]]:
        names = (verdict.decoder, verdict.clip, verdict.check)
        return [
            (known.index(name) if name in known else len(known), name)
            for known, name in zip(order, names, strict=True)
        ]

    return sorted(verdicts, key=place)


def validate(settings: Settings, said_by: Mapping[str, str]) -> None:
    """Look up the names in those settings that ``said_by`` has (name of a setting → how the user wrote it).

    Raises:
        OptionError: for a name that means nothing.
    """
    looks: Mapping[str, Callable[[], object]] = {
        "decoder": lambda: [_known_decoder(decoder) for decoder in settings.decoder],
        "codecs": lambda: _generated(settings.codecs),
        "checks": lambda: catalogue.select(settings.checks),
        "clips": lambda: _real(settings.clips),
        "expected": lambda: _read_expected(settings),
        "twin": lambda: _known_decoder(settings.twin) if settings.twin else None,
        "require": lambda: _known_names(settings),
    }
    for name, look in looks.items():
        if name in said_by:
            try:
                look()
            except VideodecodeError as error:
                raise OptionError(f"{said_by[name]}: {error}") from None


def _known_decoder(text: str) -> DecoderSpec:
    spec = parse(text)
    if ":" not in spec.target and spec.target not in registry.REGISTERED:
        registry.load(spec)  # raises, and says what is registered
    return spec


def _read_expected(settings: Settings) -> Sequence[Expected]:
    return load_expected(Path(settings.expected)) if settings.expected else ()


def _known_names(settings: Settings) -> None:
    specs = _generated(settings.codecs)
    known = {"all", *catalogue.CHECKS, *settings.decoder, *(file.name for file in _real(settings.clips))}
    known |= {name for spec in specs for name in (spec.codec, spec.name)}
    if unknown := [name for name in settings.require if name not in known]:
        raise OptionError(f"{unknown[0]!r} is nothing in this run; choose from {', '.join(sorted(known))}")


def _generated(codecs: Iterable[str]) -> list[ClipSpec]:
    specs = [_recipe(text) for text in codecs]
    for spec in specs:
        rules.require_usable(spec)
    return list(dict.fromkeys(specs))


def _recipe(text: str) -> ClipSpec:
    if ":" in text:
        return ClipSpec.parse(text)
    return CATALOGUE.get(text) or specs_for([text])[0]


def _real(paths: Iterable[str]) -> list[Path]:
    return list(dict.fromkeys(file for path in paths for file in _video_files(Path(path))))


def _video_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    try:
        files = sorted(file for file in path.iterdir() if file.suffix.lower() in VIDEO_ENDINGS)
    except OSError as error:
        raise OptionError(f"cannot look into {path}: {error.strerror}; correct its permissions") from None
    if not files:
        raise OptionError(f"no video files in {path}; endings known are {_ENDINGS}")
    return files


def _no_verdict(check: str, decoder: str, clip: str, status: Status, reason: str) -> Verdict:
    return Verdict(check=check, decoder=decoder, clip=clip, status=status, reason=base.one_line(reason, _LONGEST))
