"""Throughput in a pytest run: the hooks that ``--videodecode-throughput`` adds, and no other run has.

Without xdist this process seats its own. Under xdist every worker takes one seat before its first test, all meet in a
folder, and the controller adds up what they bring when they end.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_videodecode.errors import OptionError, Unsupported, VideodecodeError
from pytest_videodecode.options import PREFIX

if TYPE_CHECKING:
    from pytest_videodecode.measurement import Seat
    from pytest_videodecode.reports.throughput import Throughput
    from pytest_videodecode.run import Run

#: The name that a seat's order and what it brings travel under between xdist's processes.
_SEAT = f"{PREFIX}_seat"

#: A process that does not come is waited for so long, in seconds: it may have many tests to collect.
_MEET_S = 60.0

#: The states of a run after which its figures mean something.
_ENDED = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)


def hooks_for(config: pytest.Config, run: Run, *, update: bool) -> ThroughputRun | WorkerSeat:
    """The hooks of this process.

    Raises:
        OptionError: what is asked for cannot be measured or compared.
    """
    if hasattr(config, "workerinput"):
        return WorkerSeat(config, run)
    return ThroughputRun(config, run, update=update)


class WorkerSeat:
    """One process of xdist: it takes the seat that the controller gave it, if it gave one."""

    def __init__(self, config: pytest.Config, run: Run) -> None:
        self._config = config
        self._run = run
        self._brought: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> None:
        """Before the first test, decode together with the others."""
        order = self._config.workerinput.get(_SEAT)  # type: ignore[attr-defined]
        if order is None:  # in place of a worker that died: the others have decoded by now
            return
        from pytest_videodecode.jsonform import to_json
        from pytest_videodecode.measure.barrier import FolderBarrier
        from pytest_videodecode.measure.throughput import take_seat
        from pytest_videodecode.measurement import Seat

        settings = self._run.settings
        for number, (decoder, codec) in enumerate(order["pairs"]):
            barrier = FolderBarrier(Path(order["folder"], str(number)), order["seat"], order["seats"], _MEET_S)
            try:
                seat = take_seat(decoder, codec, barrier, settings.seconds, settings)
            except Unsupported as error:  # the controller could: another machine
                seat = Seat(seat=order["seat"], lost=str(error))
            self._brought.append(json.dumps(to_json(seat)))

    def pytest_sessionfinish(self) -> None:
        """Send what the seat brought."""
        self._config.workeroutput[_SEAT] = self._brought  # type: ignore[attr-defined]


class ThroughputRun:
    """The process that measures, or adds up; it compares, reports, and sets the exit status."""

    def __init__(self, config: pytest.Config, run: Run, *, update: bool) -> None:
        from pytest_videodecode.measure.machine import this_machine
        from pytest_videodecode.measuring import Measuring

        self._config = config
        self._run = run
        self._spread = config.getoption("dist", "no") != "no" and not config.option.collectonly
        settings = run.settings
        if self._spread and run.is_flag("processes"):
            raise OptionError("--videodecode-processes: under xdist every process of -n takes a seat; leave one out")
        if update and not settings.baseline:
            raise OptionError("--videodecode-update-baseline: name the file by --videodecode-baseline")
        processes = settings.processes or this_machine().cores
        self._measuring = Measuring(settings=settings, processes=processes, update=update, tell=self._tell)
        self._folder: Path | None = None
        self._seated = 0
        self._brought: dict[int, list[Seat]] = {}
        self._report: Throughput | None = None
        self._files: list[str] = []
        if not config.option.collectonly:
            self._measuring.check()

    def _tell(self, line: str) -> None:
        if reporter := self._config.pluginmanager.get_plugin("terminalreporter"):
            reporter.write_line(f"{PREFIX}: {line}")

    def _prepare(self) -> None:
        try:
            self._measuring.prepare()
        except VideodecodeError as error:
            raise pytest.UsageError(str(error)) from None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """Without xdist: see that all can be measured, before anything is collected."""
        if not self._spread and not self._config.option.collectonly:
            self._prepare()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self, specs: Sequence[Any]) -> None:
        """Under xdist: the same before its processes are started, so that one stream is alone on the machine."""
        self._measuring.processes = len(specs)
        self._prepare()
        self._folder = Path(tempfile.mkdtemp(prefix="videodecode-seats-"))

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """A seat for each process but those that take the place of one that died."""
        if self._seated < self._measuring.processes:
            node.workerinput[_SEAT] = {
                "seat": self._seated,
                "seats": self._measuring.processes,
                "folder": str(self._folder),
                "pairs": [[pair.decoder, pair.codec] for pair in self._measuring.pairs],
            }
            self._seated += 1

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Take what a process brought; one that died is named, and the others need not wait for it."""
        order = node.workerinput.get(_SEAT)
        if order is None:
            return
        from pytest_videodecode.jsonform import loads
        from pytest_videodecode.measure.barrier import FolderBarrier
        from pytest_videodecode.measurement import Seat

        number = order["seat"]
        if (brought := getattr(node, "workeroutput", {}).get(_SEAT)) is not None:
            self._brought[number] = [loads(Seat, seat) for seat in brought]
            return
        lost = f"xdist's process {node.gateway.id} died ({error or 'it said nothing'})"
        self._brought[number] = [Seat(seat=number, lost=lost)] * len(order["pairs"])
        for place in range(len(order["pairs"])):
            FolderBarrier(Path(order["folder"], str(place)), number, order["seats"], _MEET_S).leave()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> None:
        """Without xdist, measure before the first test."""
        if not self._spread and not self._config.option.collectonly:
            self._measuring.measure_here()

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Add up, compare, write; what is not as it must be counts for the exit status."""
        if self._config.option.collectonly or session.exitstatus not in _ENDED:
            return
        if self._spread:
            self._add_up()
        try:
            self._report = self._run.throughput = self._measuring.conclude()
            self._files = [f"report: {path}" for path in self._measuring.write(self._report)]
        except OptionError as error:
            self._files = [f"ERROR {error}"]
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
            return
        if self._report.faults:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        elif session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self._report.measurements:
            session.exitstatus = pytest.ExitCode.OK

    def _add_up(self) -> None:
        from pytest_videodecode.measurement import Seat

        pairs, numbers = self._measuring.pairs, range(self._seated)
        for number in numbers:  # a process that was stopped midway brought less than all
            brought = self._brought.setdefault(number, [])
            brought += [Seat(seat=number, lost="xdist's process said nothing")] * (len(pairs) - len(brought))
        for place, pair in enumerate(pairs):
            self._measuring.add_up(pair, [self._brought[number][place] for number in numbers])

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """The table, what the gate compared, and one line for whatever failed."""
        if self._report is None and not self._files:
            return
        from pytest_videodecode.reports.throughput import throughput_lines

        terminalreporter.section(f"{PREFIX} throughput")
        for line in [*(throughput_lines(self._report) if self._report else ()), *self._files]:
            terminalreporter.line(line)

    def pytest_unconfigure(self) -> None:
        """Leave nothing behind."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
