"""Where the rooms are put together: settings → clips, workers, checks → verdicts. Plugin and shell stand on this."""

from __future__ import annotations

import shlex
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import TracebackType

from pytest_videodecode.checks import base, catalogue
from pytest_videodecode.checks.expected import Expected, compare
from pytest_videodecode.checks.hang_limit import hang_limit
from pytest_videodecode.checks.loaders import base as loader_checks
from pytest_videodecode.checks.loaders.catalogue import LOADER_CHECKS
from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.damage.damage import Damage
from pytest_videodecode.decoders.spec import DecoderSpec, parse
from pytest_videodecode.errors import DamageError, DeadlinePassed, Unsupported, VideodecodeError
from pytest_videodecode.failures.check import corpus_check
from pytest_videodecode.failures.copies import DamagedCopies
from pytest_videodecode.failures.corpus import packaged
from pytest_videodecode.failures.store import FOLDER, FailureStore
from pytest_videodecode.isolation.pool import Workers
from pytest_videodecode.isolation.process import AUTOPSY_S, Limits
from pytest_videodecode.jsonform import from_json, to_json
from pytest_videodecode.loaders import spec as loaders
from pytest_videodecode.loaders.subject import DATASET, LoaderRuns
from pytest_videodecode.model import (
    Clip,
    ClipSpec,
    DecodeRequest,
    DecoderInfo,
    Outcome,
    OutcomeKind,
    Status,
    Verdict,
)
from pytest_videodecode.options import Settings
from pytest_videodecode.selection import (
    CORPUS,
    WORKER_EXIT,
    Case,
    ClipSource,
    CorpusCase,
    LoaderCase,
    read_expected,
    real_files,
)

#: The settings that a replay of one recipe shares with the run.
_OF_A_REPLAY = ("threads_env", "timeout", "memory", "allowed_errors")

#: The check that holds decodes against each other.
_COMPARES = "outcome_parity"

#: A decode that is left less time than this before the test is ended gets this much, in seconds.
_LEAST_S = 0.05

#: Longest reason in characters; those that list what is known are long.
_LONGEST = 600


class Session:
    """One run: its settings, its clips, its workers. Close it, or use it as a context."""

    def __init__(self, settings: Settings | None = None, folder: Path | None = None) -> None:
        self.settings = settings or Settings()
        self.deadline: float | None = None  # on the clock of time.monotonic: when the test that runs now is ended
        self._folder = folder
        self._specs: dict[tuple[str, str], DecoderSpec] = {}
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

    @property
    def folder(self) -> Path:
        """The folder of the run, under which it keeps what outlives it."""
        return self._folder or Path.cwd()

    @property
    def scratch(self) -> Path:
        """A folder that goes when the session is closed."""
        return Path(self._scratch.name)

    @cached_property
    def _scratch(self) -> tempfile.TemporaryDirectory[str]:
        return tempfile.TemporaryDirectory(prefix="videodecode-", ignore_cleanup_errors=True)

    @cached_property
    def _expected(self) -> Sequence[Expected]:
        return read_expected(self.settings)

    def spec(self, decoder: str) -> DecoderSpec:
        """A decoder spec with the settings that belong to it."""
        key = (decoder, self.settings.threads_env)
        if (spec := self._specs.get(key)) is None:
            spec = parse(decoder).with_threads_env(self.settings.threads_env)
            self._specs[key] = spec
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
        """One request in a worker of ``decoder``; raises where no worker can be had.

        Raises:
            DeadlinePassed: the limit of the test that runs now came before that of the decode.
        """
        self.info(decoder)
        limit_s = self.settings.timeout if limit_s is None else limit_s
        left_s = limit_s if self.deadline is None else self.deadline - time.monotonic() - AUTOPSY_S
        outcome = self.workers.decode(self.spec(decoder), request, max(min(limit_s, left_s), _LEAST_S))
        if left_s < limit_s and outcome.kind is OutcomeKind.HANG:
            raise DeadlinePassed(f"the time limit of the test came while {decoder} was asked for {request}: {outcome}")
        return outcome

    def check(self, check: str, decoder: str, source: ClipSource | Clip) -> Verdict:
        """One check of one decoder on one clip. Never raises for what either of them does."""
        function = catalogue.select([check])[0]
        copies: DamagedCopies | None = None

        def run() -> Verdict:
            nonlocal copies
            clip = source if isinstance(source, Clip) else self.clip(source)
            copies = DamagedCopies(self.scratch, self.clips)
            return base.run(function, self._subject(decoder, clip, copies))

        verdict = self._verdict(check, decoder, source.name, run, self._replay(check, decoder, source))
        return self._kept(verdict, copies) if copies else verdict

    def run(self, case: Case | CorpusCase | LoaderCase) -> Verdict:
        """``check``, ``replay`` or ``check_loader``, as the case is."""
        if isinstance(case, LoaderCase):
            return self.check_loader(case)
        if isinstance(case, CorpusCase):
            return self.replay(case.decoder, case.recipe)
        return self.check(case.check, case.decoder, case.source)

    def replay(self, decoder: str, recipe: Path) -> Verdict:
        """One recipe of the corpus, decoded again: the verdict has the name of the recipe for its clip."""

        def run() -> Verdict:
            real = real_files(self.settings)
            check, clip = corpus_check(recipe, self.clips, real, self.scratch)
            return replace(base.run(check, self._subject(decoder, clip)), clip=recipe.stem)

        named = recipe.stem if recipe.parent == packaged() else str(recipe)
        command = ["videodecode", "replay", named, "--decoder", decoder, *self._options(*_OF_A_REPLAY)]
        return self._verdict(CORPUS, decoder, recipe.stem, run, shlex.join(command))

    def check_loader(self, case: LoaderCase) -> Verdict:
        """One check of one streaming loader. Never raises for what the loader does."""

        def run() -> Verdict:
            limit_s, seed = self.settings.timeout, self.settings.seed
            subject = self._loader_runs.subject(case.name, loaders.parse(case.loader), limit_s, seed)
            return loader_checks.run(LOADER_CHECKS[case.check], subject)

        command = ["videodecode", "check", "--loader", case.loader, "--checks", case.check]
        return self._verdict(
            case.check, case.name, DATASET, run, shlex.join([*command, *self._options("timeout", "seed")])
        )

    @cached_property
    def _loader_runs(self) -> LoaderRuns:
        return LoaderRuns(self.scratch / "loaders", lambda: self.deadline)

    def _verdict(self, check: str, decoder: str, name: str, run: Callable[[], Verdict], replay: str) -> Verdict:
        try:
            verdict = run()
        except DeadlinePassed:
            raise
        except Unsupported as error:
            verdict = _no_verdict(check, decoder, name, Status.UNSUPPORTED, str(error))
        except VideodecodeError as error:
            verdict = _no_verdict(check, decoder, name, Status.ERROR, str(error))
        except Exception as error:  # a fault of ours must cost one verdict, not the run
            verdict = replace(
                _no_verdict(check, decoder, name, Status.ERROR, f"{type(error).__name__}: {error}; please report it"),
                evidence={"traceback": traceback.format_exc(limit=-6)},
            )
        return self._required(compare(replace(verdict, replay=replay), self._expected))

    def _kept(self, verdict: Verdict, copies: DamagedCopies) -> Verdict:
        """A failure on a damaged copy is kept under the run's folder, and replayed from there."""
        asked = verdict.evidence.get("request")
        # what differs between two decodes shows in neither of them alone
        if verdict.status is not Status.FAILED or verdict.expected or not asked or verdict.check == _COMPARES:
            return verdict
        store = FailureStore(self.folder / FOLDER)
        try:
            recipe = copies.keep(from_json(DecodeRequest, asked), verdict.decoder, verdict.reason, store)
        except DamageError as error:
            return replace(verdict, reason=f"{verdict.reason} ({error})")
        if recipe is None:
            return verdict
        command = [*store.replay(recipe.id), *self._options(*_OF_A_REPLAY)]
        return replace(verdict, replay=shlex.join(command))

    def _subject(self, decoder: str, clip: Clip, copies: DamagedCopies | None = None) -> base.Subject:
        sources: dict[str, Clip] = {}  # by path: the clips made for this check, and those of its damaged files

        def variant(spec: ClipSpec) -> Clip:
            other = self.clips.clip(spec)
            return sources.setdefault(other.path, other)

        def damaged(whole: Clip, damage: Damage) -> str:
            assert copies is not None
            path = copies.write(whole, damage)
            sources[path] = whole
            return path

        def decode(request: DecodeRequest) -> Outcome:
            source = sources.get(request.path)
            outcome = self.decode(decoder, request, self._limit_s(decoder, source) if source else None)
            if copies is not None:
                copies.note(request, outcome)
            return outcome

        twin = self.settings.twin
        return base.Subject(
            decoder=self.info(decoder),
            clip=clip,
            decode=decode,
            threads=self.settings.threads,
            seed=self.settings.seed,
            twin=(lambda request: self.decode(twin, request)) if twin else None,
            variant=variant,
            damaged=None if copies is None else damaged,
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
        return shlex.join([*command, *self._options("threads", "seed", "twin", *_OF_A_REPLAY)])

    def _options(self, *names: str) -> list[str]:
        """Those settings of these names that are not the defaults, as flags."""
        flags, defaults = [], Settings()
        for name in names:
            value = getattr(self.settings, name)
            if value != getattr(defaults, name):
                text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
                flags += [f"--{name.replace('_', '-')}", text]
        return flags

    def close(self) -> list[Verdict]:
        """End the workers; one that does not end by itself is a failed verdict of ``worker_exit``."""
        workers: Workers | None = self.__dict__.pop("workers", None)
        hung = workers.close() if workers else []
        self.__dict__.pop("_loader_runs", None)
        if scratch := self.__dict__.pop("_scratch", None):
            scratch.cleanup()
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
