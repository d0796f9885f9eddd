"""The fixtures: a facade for tests of one's own, and one decoder, clip or case per parameter."""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import pytest

from pytest_videodecode.errors import CheckFailed, FormError, OptionError, VideodecodeError
from pytest_videodecode.run import RUN, Run

if TYPE_CHECKING:
    from pytest_videodecode.damage.damage import Damage
    from pytest_videodecode.fuzz.own_tests import Hunts
    from pytest_videodecode.measurement import Measurement
    from pytest_videodecode.model import Clip, ClipSpec, DecodeRequest, DecoderInfo, Outcome, Verdict
    from pytest_videodecode.selection import Case, ClipSource, CorpusCase, LoaderCase


P = ParamSpec("P")
T = TypeVar("T")


def _raised_at_the_caller(method: Callable[P, T]) -> Callable[P, T]:
    """Errors of this package show the line of the test that they came of, none of ours."""

    @functools.wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        __tracebackhide__ = True
        try:
            return method(*args, **kwargs)
        except VideodecodeError as error:
            raise error.with_traceback(None) from None

    return call


class VideoDecode:
    """What the fixture ``videodecode`` gives: clips, decodes and checks, all decodes in worker processes.

    A decoder is named by its spec (``production``, ``mylab.video_io:decode_video_frames``) or given as the
    function itself, if a worker can import it by its name; None is the run's first decoder.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._hunts: Hunts | None = None

    @_raised_at_the_caller
    def clip(self, clip: str | Path | ClipSpec | None = None, /, **fields: Any) -> Clip:
        """A clip: generated from a recipe, or a real file with the truth that FFmpeg's command line tells.

        ``clip`` is a recipe (``"h264:bframes=2"``), a ``ClipSpec``, or the ``Path`` of a file; ``fields`` are those
        of ``ClipSpec``. A test whose clip needs an encoder that is missing is skipped with that reason.

        Raises:
            FormError, ClipError: for a recipe that cannot be made, a file that is no video.
        """
        from pytest_videodecode.errors import Unsupported
        from pytest_videodecode.model import ClipSpec

        __tracebackhide__ = True
        if isinstance(clip, Path):
            if fields:
                raise FormError(f"clip {clip}: {next(iter(fields))} is a field of a recipe; a file is as it is")
        else:
            clip = _with_fields(ClipSpec.parse(clip) if isinstance(clip, str) else clip or ClipSpec(), fields)
        try:
            return self._run.session.clip(clip)
        except Unsupported as error:
            pytest.skip(str(error))

    @_raised_at_the_caller
    def decode(
        self,
        clip: Clip | str | Path,
        indices: Sequence[int] | None = None,
        *,
        timestamps: Sequence[float] | None = None,
        decoder: str | Callable[..., Any] | None = None,
        **request: Any,
    ) -> Outcome:
        """One decode in a worker; whatever it does (frames, an error, a hang, a crash) is the outcome.

        ``clip`` may be any file's path. Give ``indices`` or ``timestamps`` (seconds); ``request`` are further
        fields of ``DecodeRequest``. The frames are ``outcome.frames``, uint8 (N,H,W,3) RGB.

        Raises:
            TypeError: for both of ``indices`` and ``timestamps``, or neither; an unknown field.
            WorkerError, DecoderSpecError, Unsupported: when there is no worker with this decoder.
        """
        from pytest_videodecode.model import DecodeRequest

        __tracebackhide__ = True
        if (indices is None) is (timestamps is None):
            raise TypeError("decode() takes indices or timestamps, one of the two")
        asked = DecodeRequest(
            path=str(getattr(clip, "path", clip)),
            indices=None if indices is None else tuple(int(index) for index in indices),
            timestamps=None if timestamps is None else tuple(float(time) for time in timestamps),
            **request,
        )
        return self._run.session.decode(self._name(decoder), asked)

    @_raised_at_the_caller
    def info(self, decoder: str | Callable[..., Any] | None = None) -> DecoderInfo:
        """What a decoder says of itself: how it is asked, how its thread count is set, its versions."""
        return self._run.session.info(self._name(decoder))

    @_raised_at_the_caller
    def run_check(
        self, check: str, clip: Clip | ClipSpec | Path | str, decoder: str | Callable[..., Any] | None = None
    ) -> Verdict:
        """The verdict of one check, recorded for summary and report; it fails nothing by itself.

        ``clip`` as text is a recipe, as in ``clip``.

        Raises:
            OptionError: for an unknown check, or a function that no worker can import.
            FormError: for a text that is no recipe.
        """
        from pytest_videodecode.model import ClipSpec

        if isinstance(clip, str):
            clip = ClipSpec.parse(clip)
        verdict = self._run.session.check(check, self._name(decoder), clip)
        self._run.record(verdict)
        return verdict

    @_raised_at_the_caller
    def assert_check(
        self, check: str, clip: Clip | ClipSpec | Path | str, decoder: str | Callable[..., Any] | None = None
    ) -> Verdict:
        """``run_check`` that fails the test when the check does, and skips it when the check cannot be made.

        Raises:
            CheckFailed: an ``AssertionError`` that says what was asked, what came, and how to see it again.
        """
        __tracebackhide__ = True
        verdict = self.run_check(check, clip, decoder)
        settle(verdict)
        return verdict

    @_raised_at_the_caller
    def assert_damaged(
        self,
        clip: Clip,
        damage: Damage,
        request: DecodeRequest | None = None,
        decoder: str | Callable[..., Any] | None = None,
    ) -> Outcome:
        """Decode ``clip`` with ``damage``, in a worker; fails the test when what comes may not come.

        For property tests (see docs/fuzzing.md): a failure is kept for ``videodecode replay``, and shrinks in
        bounded time even if it is a hang. ``request`` asks for the clip's frames, by default for the first 16. The
        outcome comes without its pixels.

        Raises:
            DamagedDecodeFailed: a ``CheckFailed`` with recipe, seed and the command to replay it.
        """
        from pytest_videodecode.errors import Unsupported
        from pytest_videodecode.fuzz.own_tests import Hunts
        from pytest_videodecode.model import DecodeRequest

        __tracebackhide__ = True
        asked = request or DecodeRequest(path=clip.path, indices=tuple(range(min(16, clip.frames))))
        self._hunts = self._hunts or Hunts(self._run.session)
        name = self._name(decoder)
        try:
            self._run.session.info(name)
        except Unsupported as error:
            pytest.skip(str(error))
        return self._hunts.attempt(self._run.test, name, clip, damage, asked)

    @_raised_at_the_caller
    def measure(self, codec: str = "av1", decoder: str | Callable[..., Any] | None = None) -> Measurement:
        """Throughput of ``processes`` worker processes that decode for ``seconds`` (settings of run or marker).

        ``codec`` is a codec, a recipe, or a name of the catalogue. Tests that xdist runs beside this one disturb it.

        Raises:
            MeasurementError: wrong frames, more processes than fit, or every one of them lost.
        """
        from pytest_videodecode.errors import Unsupported
        from pytest_videodecode.measure.machine import this_machine
        from pytest_videodecode.measure.throughput import measure

        __tracebackhide__ = True
        settings = self._run.session.settings
        processes = settings.processes or this_machine().cores
        try:
            return measure(self._name(decoder), codec, processes, settings.seconds, settings)
        except Unsupported as error:
            pytest.skip(str(error))

    @_raised_at_the_caller
    def assert_no_regression(self, measured: Measurement) -> None:
        """Hold the stable figures of a measurement against the baseline of the run, within ``limits``.

        Raises:
            CheckFailed: one line for each metric beyond its limit, or where nothing could be compared.
            OptionError: where the run has no baseline that can be read.
        """
        from pytest_videodecode.measure.baseline import load
        from pytest_videodecode.measure.gate import against_baseline
        from pytest_videodecode.measure.machine import this_machine

        __tracebackhide__ = True
        settings = self._run.session.settings
        if not settings.baseline:
            raise OptionError("there is no baseline to compare with; name one by --videodecode-baseline")
        baseline = load(Path(settings.baseline))
        found = against_baseline(baseline, [measured], this_machine(), settings.seed, dict(settings.limits))
        if found.regressions or not found.compared:
            raise CheckFailed("\n".join([*map(str, found.regressions), *found.notes]))

    def _name(self, decoder: str | Callable[..., Any] | None) -> str:
        if decoder is None:
            return self._run.session.settings.decoder[0]
        if isinstance(decoder, str):
            return decoder
        name = getattr(decoder, "__qualname__", "")
        module = getattr(decoder, "__module__", "")
        try:  # what a worker finds under this name must be the very function
            found = operator.attrgetter(name)(sys.modules[module]) == decoder
        except (AttributeError, KeyError):
            found = False
        if not found:
            raise OptionError(f"{decoder!r} cannot be imported by a worker; give a function of a module")
        return f"{module}:{name}"


def _with_fields(spec: ClipSpec, fields: Mapping[str, Any]) -> ClipSpec:
    from pytest_videodecode.jsonform import from_json, to_json
    from pytest_videodecode.model import ClipSpec

    given = {name: str(value) if name in ("rate", "start") else to_json(value) for name, value in fields.items()}
    return from_json(ClipSpec, {**to_json(spec), **given}, "clip")


def settle(verdict: Verdict) -> None:
    """Let the test that runs now end as the verdict says."""
    from pytest_videodecode.model import Status
    from pytest_videodecode.reports.summary import describe

    __tracebackhide__ = True
    if verdict.expected:
        pytest.xfail(verdict.expected)
    if verdict.status is Status.UNSUPPORTED:
        pytest.skip(verdict.reason)
    if verdict.status is not Status.PASSED:
        raise CheckFailed("\n".join(describe(verdict)))


def _usable(parameter: Any) -> Any:
    """What the collection found, unless that was an error, which is this test's."""
    if isinstance(parameter, VideodecodeError):
        raise pytest.fail.Exception(str(parameter), pytrace=False)
    return parameter


@pytest.fixture(scope="session")
def videodecode(pytestconfig: pytest.Config) -> VideoDecode:
    """Clips, decodes in worker processes, and checks, for tests of your own."""
    return VideoDecode(pytestconfig.stash[RUN])


@pytest.fixture(scope="session")
def videodecode_decoder(request: pytest.FixtureRequest) -> str:
    """Each decoder of the run in turn, as a decoder spec."""
    return str(_usable(request.param))


@pytest.fixture(scope="session")
def videodecode_clip(request: pytest.FixtureRequest, videodecode: VideoDecode) -> Clip:
    """Each clip of the run in turn."""
    source: ClipSource = _usable(request.param)
    try:
        return videodecode.clip(source)
    except VideodecodeError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None


@pytest.fixture
def videodecode_case(request: pytest.FixtureRequest, videodecode: VideoDecode) -> Callable[[], None]:
    """Each check of each decoder on each clip in turn: call it, and the test ends as the verdict says."""
    case: Case = _usable(request.param)

    def run() -> None:
        __tracebackhide__ = True
        settle(videodecode.run_check(case.check, case.source, case.decoder))

    return run


@pytest.fixture
def videodecode_corpus(request: pytest.FixtureRequest, pytestconfig: pytest.Config) -> Callable[[], None]:
    """Each recipe of the corpus on each decoder in turn: call it, and the test ends as the verdict says."""
    case: CorpusCase = _usable(request.param)
    run = pytestconfig.stash[RUN]

    def replay() -> None:
        __tracebackhide__ = True
        verdict = run.session.replay(case.decoder, case.recipe)
        run.record(verdict)
        settle(verdict)

    return replay


@pytest.fixture
def videodecode_loader(request: pytest.FixtureRequest, pytestconfig: pytest.Config) -> Callable[[], None]:
    """Each check of each streaming loader in turn: call it, and the test ends as the verdict says."""
    case: LoaderCase = _usable(request.param)
    run = pytestconfig.stash[RUN]

    def check() -> None:
        __tracebackhide__ = True
        verdict = run.session.check_loader(case)
        run.record(verdict)
        settle(verdict)

    return check
