"""What ``--videodecode-throughput`` and ``videodecode throughput`` do alike: measure, hold against, write down."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from pytest_videodecode.environment import commit_info, environment
from pytest_videodecode.errors import OptionError, Unsupported, VideodecodeError
from pytest_videodecode.measure import baseline
from pytest_videodecode.measure.bench import Bench
from pytest_videodecode.measure.capacity import require_memory
from pytest_videodecode.measure.compare import compare
from pytest_videodecode.measure.gate import against_baseline, against_decoder
from pytest_videodecode.measure.machine import this_machine
from pytest_videodecode.measure.statistics import require_scipy
from pytest_videodecode.measure.throughput import add_up
from pytest_videodecode.measurement import Comparison, Measurement, Regression, Seat, Split
from pytest_videodecode.options import Settings
from pytest_videodecode.reports.benchmark_json import benchmark_json
from pytest_videodecode.reports.files import write_whole
from pytest_videodecode.reports.throughput import Throughput, throughput_json
from pytest_videodecode.reports.throughput_csv import throughput_csv
from pytest_videodecode.session import Session

Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """One decoder on one codec that can be measured here, with what goes beside its figures."""

    decoder: str
    codec: str
    sample: str
    split: Split
    versions: Mapping[str, str]

    def __str__(self) -> str:
        return f"{self.decoder} on {self.codec}"


@dataclass(kw_only=True)
class Measuring:
    """One run: ``prepare``, then ``measure_here`` or ``add_up`` for each pair, then ``conclude`` and ``write``.

    ``processes`` decode at the same time. ``update`` has the baseline of the settings written, not compared.
    """

    settings: Settings
    processes: int
    update: bool = False
    tell: Tell = lambda _: None
    pairs: list[Pair] = field(default_factory=list)
    _before: baseline.Baseline | None = None
    _measured: list[Measurement] = field(default_factory=list)
    _failed: list[str] = field(default_factory=list)
    _unsupported: list[str] = field(default_factory=list)

    def check(self) -> None:
        """Read the baseline, and start the decoder to compare with; nothing is measured yet.

        Raises:
            OptionError: a baseline that cannot be used, no codec, a decoder to compare with that cannot be started.
        """
        given = self.settings
        if not given.codecs:
            raise OptionError("throughput: no codec is named; give some to generate clips in, such as av1,h264")
        if given.baseline and (not self.update or Path(given.baseline).exists()):
            self._before = baseline.load(Path(given.baseline))
        if given.against:
            try:
                require_scipy()
                with Session(given) as session:
                    session.info(given.against)
            except VideodecodeError as error:
                raise OptionError(f"cannot compare with {given.against}: {error}") from None

    def prepare(self) -> None:
        """Seat every decoder alone on every codec: it has to work, so many of it have to fit, one stream is timed.

        Raises:
            VideodecodeError: a decoder that cannot be started, returns other frames than asked, or needs more memory
                than there is for all processes.
        """
        for decoder in self.settings.decoder:
            for codec in self.settings.codecs:
                try:
                    self.pairs.append(self._alone(decoder, codec))
                except Unsupported as error:
                    self._is_unsupported(decoder, codec, str(error))

    def _alone(self, decoder: str, codec: str) -> Pair:
        self.tell(f"{decoder} on {codec}: alone")
        with Bench([decoder], codec, 1, self.settings) as bench:
            require_memory(decoder, self.processes, bench.round(0, 0.0, samples=1).rss_peak)
            return Pair(
                decoder=decoder,
                codec=codec,
                sample=bench.samples.shape.name,
                split=bench.split(0),
                versions=bench.info(0).versions,
            )

    def _is_unsupported(self, decoder: str, codec: str, reason: str) -> None:
        if {"all", decoder, codec, codec.partition(":")[0]} & set(self.settings.require):
            self._failed.append(f"{decoder} on {codec}: required, but unsupported: {reason}")
        else:
            self._unsupported.append(f"{decoder} on {codec}: {reason}")

    def measure_here(self) -> None:
        """Every pair in turn, in worker processes of this one. A pair whose seats are all lost is a failure."""
        for pair in self.pairs:
            self.tell(f"{pair}: {self.processes} processes, {self.settings.seconds:g} s")
            try:
                with Bench([pair.decoder], pair.codec, self.processes, self.settings) as bench:
                    measured = bench.round(0, self.settings.seconds)
            except VideodecodeError as error:
                self._failed.append(f"{pair}: {error}")
            else:
                self._measured.append(replace(measured, split=pair.split))

    def add_up(self, pair: Pair, seats: Sequence[Seat]) -> None:
        """A pair whose seats were taken elsewhere."""
        try:
            measured = add_up(
                seats,
                decoder=pair.decoder,
                codec=pair.codec,
                sample=pair.sample,
                seconds=self.settings.seconds,
                processes=self.processes,
                split=pair.split,
                versions=pair.versions,
            )
        except VideodecodeError as error:
            self._failed.append(str(error))
        else:
            self._measured.append(measured)

    def conclude(self) -> Throughput:
        """Compare with the decoder at hand, then with the baseline or in its place; the whole report.

        Raises:
            OptionError: where the baseline cannot be written.
        """
        report = Throughput(
            machine=this_machine(),
            measurements=tuple(self._measured),
            failed=tuple(self._failed),
            unsupported=tuple(self._unsupported),
        )
        if self.settings.against:
            report = self._with_comparisons(report)
        if not self.settings.baseline:
            return report
        if not report.measurements:
            return replace(report, failed=(*report.failed, f"nothing was measured for {self.settings.baseline}"))
        return self._updated(report) if self.update else self._gated(report)

    def _with_comparisons(self, report: Throughput) -> Throughput:
        """The first decoder only: each comparison takes the better part of a minute."""
        decoder, before, limits = self.settings.decoder[0], self.settings.against, dict(self.settings.limits)
        comparisons: dict[str, tuple[Comparison, ...]] = {}
        regressions: list[Regression] = []
        failed = list(report.failed)
        for pair in self.pairs:
            if pair.decoder != decoder:
                continue
            self.tell(f"{pair}: against {before}")
            try:
                comparisons[pair.codec] = interleaved(before, decoder, pair.codec, self.processes, self.settings)
            except VideodecodeError as error:
                failed.append(f"{pair} against {before}: {error}")
            else:
                regressions += against_decoder(comparisons[pair.codec], limits, pair.codec)
        return replace(
            report,
            comparisons=comparisons,
            regressions=(*report.regressions, *regressions),
            failed=tuple(failed),
            gates=(
                *report.gates,
                f"interleaved rounds with {before} ({_used(comparisons)}): {_counted(len(regressions))}",
            ),
        )

    def _gated(self, report: Throughput) -> Throughput:
        assert self._before is not None
        found = against_baseline(
            self._before, report.measurements, report.machine, self.settings.seed, dict(self.settings.limits)
        )
        nothing = () if found.compared else (f"nothing could be compared with the baseline {self.settings.baseline}",)
        return replace(
            report,
            regressions=(*report.regressions, *found.regressions),
            notes=(*report.notes, *found.notes),
            failed=(*report.failed, *nothing),
            gates=(
                *report.gates,
                f"{found.compared} stable figures against the baseline {self.settings.baseline}: "
                f"{_counted(len(found.regressions))}",
            ),
        )

    def _updated(self, report: Throughput) -> Throughput:
        path = Path(self.settings.baseline)
        if report.faults:
            return replace(report, gates=(*report.gates, f"the baseline {path} is left as it was, for what failed"))
        new = baseline.updated(
            self._before, report.measurements, report.machine, self.settings.seed, dict(self.settings.limits)
        )
        write_whole(path, baseline.dumps(new))
        return replace(report, gates=(*report.gates, f"{path} written: {', '.join(new.codecs) or 'nothing'}"))

    def write(self, report: Throughput) -> list[Path]:
        """The files that the settings ask for.

        Raises:
            OptionError: where one cannot be written.
        """
        written = []
        if self.settings.report:
            folder = Path(self.settings.report)
            text = throughput_json(report, environment(), self.settings.seed)
            written.append(write_whole(folder / "throughput.json", text))
            written.append(write_whole(folder / "throughput.csv", throughput_csv(report.measurements)))
        if self.settings.benchmark_json:
            now = datetime.now(UTC)
            text = benchmark_json(report.measurements, report.machine, commit_info(), now)
            written.append(write_whole(Path(self.settings.benchmark_json), text))
        return written


def _used(comparisons: Mapping[str, Sequence[Comparison]]) -> str:
    """Which metric each verdict was taken from."""
    used = [f"{one.metric} on {codec}" for codec, several in comparisons.items() for one in several]
    return ", ".join(used) or "none could be made"


def interleaved(before: str, after: str, codec: str, processes: int, settings: Settings) -> tuple[Comparison, ...]:
    """``after`` against ``before`` in rounds that take turns."""
    return (compare(before, after, codec, processes, settings),)


def _counted(regressions: int) -> str:
    return {0: "no regression", 1: "1 regression"}.get(regressions, f"{regressions} regressions")
