"""One pytest run: the settings as the user gave them, the session behind them, and the verdicts that came of it.

Registered as a plugin of its own, so that its hooks have their state in ``self``.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_videodecode import __version__
from pytest_videodecode.errors import OptionError, VideodecodeError
from pytest_videodecode.options import BY_NAME, OPTIONS, PREFIX, Settings

if TYPE_CHECKING:  # what stands behind these imports numpy and more; a run that needs none must not pay for it
    from pytest_videodecode.model import Verdict
    from pytest_videodecode.reports.throughput import Throughput
    from pytest_videodecode.session import Session

RUN = pytest.StashKey["Run"]()

#: Settings that name something; what it is takes heavy imports to find out.
_LOOKED_UP = {"decoder", "codecs", "checks", "clips", "loader", "expected", "require", "twin", "against", "limits"}

#: The name that verdicts travel under, in ``user_properties`` and from xdist's workers.
_VERDICT = PREFIX


class Run:
    """Settings, session and verdicts of one pytest run; under xdist, of one process of it."""

    def __init__(self, config: pytest.Config, *, suite: bool, in_use: bool) -> None:
        self._config = config
        ini, flags = _ini(config), _flags(config)
        said_by = {name: f"ini key {BY_NAME[name].ini}" for name in ini} | {name: BY_NAME[name].flag for name in flags}
        self._in_use = in_use or bool(flags)
        self._flags = frozenset(flags)
        self._settings = Settings().with_texts({**ini, **flags}, said_by.__getitem__)
        self._said_by = said_by
        if self._in_use:  # settings of an ini file alone are looked up at their first use, which may never come
            _look_up(self._settings, said_by)
        self._item: pytest.Item | None = None
        self._deadline: float | None = None
        self._item_settings = self._settings
        self._opened: Session | None = None
        self._verdicts: list[Verdict] = []
        self._report_lines: list[str] = []
        self.throughput: Throughput | None = None
        if suite:
            from pytest_videodecode.selection import sources

            sources(self._settings)

    @property
    def settings(self) -> Settings:
        """Those of the run, without the markers of tests."""
        return self._settings

    def is_flag(self, name: str) -> bool:
        """Whether a setting was given on the command line."""
        return name in self._flags

    @property
    def session(self) -> Session:
        """The session, with the settings of the test that runs now. Its first use imports what is heavy."""
        if self._opened is None:
            from pytest_videodecode.session import Session

            _look_up(self._settings, self._said_by)
            self._opened = Session(self._settings, self._config.rootpath)
        self._opened.settings = self._item_settings
        self._opened.deadline = self._deadline
        return self._opened

    @property
    def test(self) -> str:
        """The id of the test that runs now."""
        return self._item.nodeid if self._item else ""

    def record(self, verdict: Verdict) -> None:
        """Let a verdict travel with the report of the test that runs now."""
        if self._item is not None:
            self._item.user_properties.append((_VERDICT, _dumps(verdict)))

    def close(self) -> list[Verdict]:
        """End the workers; one that does not end by itself is a failed verdict."""
        opened, self._opened = self._opened, None
        return opened.close() if opened else []

    def _marked(self, item: pytest.Item) -> Settings:
        marker = item.get_closest_marker(PREFIX)
        if marker is None:
            return self._settings
        if marker.args:
            raise OptionError(f"marker {PREFIX}: give settings by name, such as {PREFIX}(threads=[1, 2])")
        said_by = {name: f"marker {PREFIX}({name}=...)" for name in marker.kwargs}
        for name, said in said_by.items():
            if name in BY_NAME and BY_NAME[name].whole_run:
                raise OptionError(f"{said}: belongs to the whole run; set it by {BY_NAME[name].flag}")
        settings = self._settings.with_texts(marker.kwargs, said_by.__getitem__)
        _look_up(settings, said_by)
        return settings

    def _collect(self, verdicts: Sequence[str]) -> None:
        if not verdicts:
            return
        from pytest_videodecode.jsonform import loads
        from pytest_videodecode.model import Verdict

        self._verdicts += [loads(Verdict, verdict) for verdict in verdicts]

    # Hooks, in the order in which pytest calls them.

    def pytest_report_header(self) -> str | None:
        """One line, when the plugin is in use."""
        if not self._in_use:
            return None
        shown = self._settings
        clips = ", ".join((*shown.codecs, *shown.clips)) or "no clips"
        return f"{PREFIX} {__version__}: {', '.join(shown.decoder)} on {clips} (seed {shown.seed})"

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """A file of the suite for which the checks named leave nothing is not there at all, rather than skipped."""
        if collection_path.parent != Path(__file__).with_name("suite"):
            return None
        from pytest_videodecode.selection import cases, corpus_cases, loader_cases

        fillings: Mapping[str, Callable[[Settings], Sequence[Any]]] = {
            "test_decoders.py": cases,
            "test_corpus.py": corpus_cases,
            "test_loader.py": loader_cases,
        }
        fills = fillings.get(collection_path.name)
        return None if fills is None or fills(self._settings) else True

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Decoders, clips and cases as parameters; naming a clip does not make it."""
        asked = {name.removeprefix(f"{PREFIX}_") for name in metafunc.fixturenames if name.startswith(PREFIX)}
        if not asked & {"decoder", "clip", "case", "corpus", "loader"}:
            return
        from pytest_videodecode.selection import cases, corpus_cases, loader_cases, sources

        kinds: Mapping[str, Callable[[Settings], Sequence[Any]]] = {
            "decoder": lambda settings: settings.decoder,
            "clip": sources,
            "case": cases,
            "corpus": corpus_cases,
            "loader": loader_cases,
        }
        for kind, named in kinds.items():
            if kind in asked:
                try:
                    found = named(self._marked(metafunc.definition))
                except VideodecodeError as error:  # this test fails by it, and the rest of its module still runs
                    found = [error]
                metafunc.parametrize(f"{PREFIX}_{kind}", found, ids=list(map(_id, found)), indirect=True)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """From here on, verdicts and the settings of a marker are this test's."""
        self._item = item
        try:
            self._item_settings = self._marked(item)
        except OptionError as error:
            raise pytest.fail.Exception(str(error), pytrace=False) from None

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_timeout_set_timer(self, settings: Any) -> None:
        """Remember when pytest-timeout will end the test: its thread method would take the whole run with it."""
        self._deadline = time.monotonic() + settings.timeout

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_timeout_cancel_timer(self) -> None:
        """The test, or its part that is timed, has ended."""
        self._deadline = None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect the verdicts of a test; the report of its teardown has those of all its phases."""
        if report.when == "teardown" and not _is_xdist_worker(self._config):
            self._collect([str(value) for name, value in report.user_properties if name == _VERDICT])

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Collect what an xdist worker found when it ended; one that crashed has nothing to say."""
        self._collect(getattr(node, "workeroutput", {}).get(_VERDICT, ()))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """End the workers, write the report, and let a worker that did not end count for the exit status."""
        hung = [_dumps(verdict) for verdict in self.close()]
        if _is_xdist_worker(self._config):
            self._config.workeroutput[_VERDICT] = hung  # type: ignore[attr-defined]
            return
        self._collect(hung)
        if self._verdicts:
            from pytest_videodecode.selection import in_order

            self._verdicts = in_order(self._verdicts, self._settings)
        refused = session.exitstatus == pytest.ExitCode.USAGE_ERROR
        if (self._verdicts or self._in_use) and not self._config.option.collectonly and not refused:
            self._write_report(session)
        if session.exitstatus == pytest.ExitCode.OK and any(v.check == "worker_exit" for v in self._verdicts):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _write_report(self, session: pytest.Session) -> None:
        """The files of the report folder, and the page of a job of GitHub Actions, which names its file itself."""
        folder = Path(self._settings.report) if self._settings.report else None
        something = self._verdicts or self.throughput is not None
        page = os.environ.get("GITHUB_STEP_SUMMARY", "") if something else ""
        if folder is None and not page:
            return
        from pytest_videodecode.reports.job_summary import job_summary, write_job_summary
        from pytest_videodecode.reports.results import results, write_results

        seed = self._settings.seed
        try:
            if folder and (self._verdicts or self.throughput is None):
                from pytest_videodecode.environment import environment

                report = results(self._verdicts, environment(), seed)
                self._report_lines.append(f"report: {write_results(folder, report)}")
            write_job_summary(job_summary(self._verdicts, seed, self.throughput), folder, page)
        except OptionError as error:
            self._report_lines.append(f"ERROR {error}")
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """The matrix, then the failures with the command that shows each again."""
        if not self._verdicts and not self._report_lines:
            return
        from pytest_videodecode.reports.summary import summary_lines
        from pytest_videodecode.selection import CHECK_NAMES

        terminalreporter.section(PREFIX)
        for line in summary_lines(self._verdicts, self._settings.seed, CHECK_NAMES):
            terminalreporter.line(line)
        for line in self._report_lines:
            terminalreporter.line(line)


def _ini(config: pytest.Config) -> dict[str, Any]:
    """What the ini file says, by the names of settings."""
    given = {option.name: config.getini(option.ini) for option in OPTIONS}
    return {
        name: _from_here(config, value) if BY_NAME[name].is_path else value
        for name, value in given.items()
        if value is not None
    }


def _flags(config: pytest.Config) -> dict[str, Any]:
    """What the command line says, by the names of settings."""
    given = {option.name: config.getoption(option.ini) for option in OPTIONS}
    return {name: value for name, value in given.items() if value is not None}


def _from_here(config: pytest.Config, value: str | list[str]) -> str | list[str]:
    """Paths in an ini file are relative to that file, as pytest's own are; an empty one stays empty."""
    folder = config.inipath.parent if config.inipath else config.rootpath
    if isinstance(value, str):
        return str(folder / value) if value.strip() else ""
    return [str(folder / path) for path in value]


def _look_up(settings: Settings, said_by: Mapping[str, str]) -> None:
    """Raise an ``OptionError`` for a name in the settings of ``said_by`` that means nothing."""
    if said_by.keys() & _LOOKED_UP:
        from pytest_videodecode.selection import validate

        validate(settings, said_by)


def _id(value: object) -> str:
    """The name of a parameter in a test's id."""
    if isinstance(value, VideodecodeError):
        return "unusable"
    return str(getattr(value, "name", value))


def _is_xdist_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def _dumps(verdict: Verdict) -> str:
    from pytest_videodecode.jsonform import to_json

    return json.dumps(to_json(verdict))
