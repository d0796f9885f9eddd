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

#: Longest reason in characters; those that list what is known are long.
_LONGEST = 600


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
        return read_expected(self.settings)

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


def _no_verdict(check: str, decoder: str, clip: str, status: Status, reason: str) -> Verdict:
    return Verdict(check=check, decoder=decoder, clip=clip, status=status, reason=base.one_line(reason, _LONGEST))
