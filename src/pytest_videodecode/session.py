"""Where the rooms are put together: settings → clips, workers, checks → verdicts. Plugin and shell stand on this."""

from __future__ import annotations

import shlex
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import TracebackType

from pytest_videodecode.checks import base, catalogue
from pytest_videodecode.checks.expected import Expected, compare, load_expected
from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.clips.catalogue import specs_for
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

#: Endings of files that are taken from a folder of clips; a file that is named itself may have any.
VIDEO_ENDINGS = frozenset(
    ".264 .265 .3gp .avi .flv .h264 .hevc .ivf .m2ts .m4v .mkv .mov .mp4 .mpeg .mpg .mts .obu .ogv .ts .vob .webm "
    ".wmv .y4m".split()
)


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
        self._unusable: dict[str, VideodecodeError] = {}

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
    def _expected(self) -> Sequence[Expected]:
        return load_expected(Path(self.settings.expected)) if self.settings.expected else ()

    def spec(self, decoder: str) -> DecoderSpec:
        """A decoder spec with the settings that belong to it."""
        spec = parse(decoder)
        if self.settings.threads_env and ":" in spec.target and "threads_env" not in spec.options:
            spec = replace(spec, options={**spec.options, "threads_env": self.settings.threads_env})
        return spec

    def clip(self, source: ClipSource) -> Clip:
        """The clip of a recipe (made once), or of a real file (its truth is found out once)."""
        return self.clips.real(source) if isinstance(source, Path) else self.clips.clip(source)

    def info(self, decoder: str) -> DecoderInfo:
        """What a decoder says of itself. A decoder that cannot be loaded raises the same error every time."""
        if decoder not in self._unusable:
            try:
                return replace(self.workers.info(self.spec(decoder)), name=decoder)
            except VideodecodeError as error:
                self._unusable[decoder] = error
        raise self._unusable[decoder]

    def decode(self, decoder: str, request: DecodeRequest, limit_s: float | None = None) -> Outcome:
        """One request in a worker of ``decoder``; raises only where no worker can be had."""
        return self.workers.decode(self.spec(decoder), request, self.settings.timeout if limit_s is None else limit_s)

    def check(self, check: str, decoder: str, source: ClipSource | Clip) -> Verdict:
        """One check of one decoder on one clip. Never raises for what either of them does."""
        function = catalogue.select([check])[0]
        name = source.name
        try:
            clip = source if isinstance(source, Clip) else self.clip(source)
            subject = base.Subject(
                decoder=self.info(decoder),
                clip=clip,
                decode=lambda request: self.decode(decoder, request),
                threads=self.settings.threads,
                seed=self.settings.seed,
            )
            verdict = base.run(function, subject)
        except Unsupported as error:
            verdict = _no_verdict(check, decoder, name, Status.UNSUPPORTED, str(error))
        except VideodecodeError as error:
            verdict = _no_verdict(check, decoder, name, Status.ERROR, str(error))
        except Exception as error:  # a fault of ours must cost one verdict, not the run
            verdict = replace(
                _no_verdict(check, decoder, name, Status.ERROR, f"{type(error).__name__}: {error}"),
                evidence={"traceback": traceback.format_exc(limit=-6)},
            )
        verdict = replace(verdict, replay=self._replay(check, decoder, source))
        return self._required(compare(verdict, self._expected))

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
        for option in ("threads", "threads_env", "seed", "timeout"):
            value = getattr(self.settings, option)
            if value != getattr(defaults, option):
                text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
                command += [f"--{option.replace('_', '-')}", text]
        return shlex.join(command)

    def close(self) -> list[Verdict]:
        """End the workers; one that does not end by itself is a failed verdict of ``worker_exit``."""
        workers: Workers | None = self.__dict__.pop("workers", None)
        hung = workers.close() if workers else []
        return [
            replace(
                _no_verdict("worker_exit", decoder, "", Status.FAILED, f"its worker's exit ended in a {hang}"),
                evidence=to_json(hang),
            )
            for decoder, hang in hung
        ]


def sources(settings: Settings) -> list[ClipSource]:
    """The clips that the settings name: generated ones, then real files.

    Raises:
        OptionError: for an unknown codec, or a folder without video files.
    """
    real = [file for given in settings.clips for file in _video_files(Path(given))]
    return [*specs_for(settings.codecs), *real]


def cases(settings: Settings) -> list[Case]:
    """Every decoder × clip × check of the settings, so ordered that a clip is used while it is fresh."""
    checks = [check.__name__ for check in catalogue.select(settings.checks)]
    clips = sources(settings)
    return [Case(decoder, clip, check) for decoder in settings.decoder for clip in clips for check in checks]


def validate(settings: Settings) -> None:
    """Raise an ``OptionError`` or ``DecoderSpecError`` for a name in ``settings`` that means nothing."""
    checks = {check.__name__ for check in catalogue.select(settings.checks)}
    for decoder in settings.decoder:
        parse(decoder)
    clips = {name for spec in specs_for(settings.codecs) for name in (spec.codec, spec.name)}
    clips |= {source.name for source in sources(settings) if isinstance(source, Path)}
    known = {"all", *checks, *clips, *settings.decoder}
    if unknown := [name for name in settings.require if name not in known]:
        raise OptionError(f"required {unknown[0]!r} is nothing in this run; known are {', '.join(sorted(known))}")


def _video_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.iterdir() if file.suffix.lower() in VIDEO_ENDINGS)
    if not files:
        raise OptionError(f"no video files in {path}; endings known are {' '.join(sorted(VIDEO_ENDINGS))}")
    return files


def _no_verdict(check: str, decoder: str, clip: str, status: Status, reason: str) -> Verdict:
    return Verdict(check=check, decoder=decoder, clip=clip, status=status, reason=reason)
