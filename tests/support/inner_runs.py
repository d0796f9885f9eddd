"""Pytest in pytest: runs of the plugin in the folder of a test, kept small."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

#: The report that every run is asked for, in its folder.
REPORT = "out"

#: What a run does unless it is told otherwise: next to nothing, and it passes.
SMALL = {"decoder": "rogue:well_behaved", "codecs": "mpeg4", "checks": "determinism", "report": REPORT}


@dataclass(frozen=True)
class Ran:
    """A run that has ended."""

    result: pytest.RunResult
    report: dict[str, Any]

    @property
    def code(self) -> int:
        """The exit status."""
        return int(self.result.ret)

    @property
    def out(self) -> str:
        """Everything it printed on standard output."""
        return str(self.result.stdout)

    @property
    def verdicts(self) -> list[dict[str, Any]]:
        """Those of ``results.json``."""
        verdicts: list[dict[str, Any]] = self.report.get("verdicts", [])
        return verdicts

    @property
    def verdict(self) -> dict[str, Any]:
        """The only one."""
        (verdict,) = self.verdicts
        return verdict

    @property
    def summary(self) -> list[str]:
        """The lines of the plugin's own section."""
        lines = self.result.outlines
        starts = [n for n, line in enumerate(lines) if line.strip("= ") == "videodecode"]
        assert len(starts) == 1, "one summary section, once"
        section = lines[starts[0] + 1 :]
        end = next(n for n, line in enumerate(section) if line.startswith("===="))
        while not section[end - 1]:  # pytest's own empty line
            end -= 1
        return section[:end]

    @property
    def matrix(self) -> list[list[str]]:
        """The rows of the summary's matrix, the names of the checks first."""
        block = self.summary[1 : self.summary.index("")] if "" in self.summary else self.summary[1:]
        return [line.replace(" FAILED", "!").split() for line in block if not line.startswith("report: ")]

    @property
    def usage_error(self) -> str:
        """The one line of a run that was refused: nothing else was printed, and no test was begun."""
        assert self.code == pytest.ExitCode.USAGE_ERROR
        assert "Traceback" not in self.out + str(self.result.stderr)
        assert "test session starts" not in self.out
        (line,) = [line for line in self.result.errlines if line]
        assert line.startswith("ERROR: ")
        return line.removeprefix("ERROR: ")


class InnerRuns:
    """Starts runs in the folder of ``pytester``."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester

    def suite(self, *arguments: str, **settings: str | None) -> Ran:
        """The ready-made suite with ``SMALL`` settings and these; None leaves a flag out."""
        return self.tests(*_flags(settings), *arguments)

    def suite_apart(self, *arguments: str, **settings: str | None) -> Ran:
        """``suite`` in a process of its own."""
        return self.tests(*_flags(settings), *arguments, apart=True)

    def tests(self, *arguments: str, apart: bool = False) -> Ran:
        """The tests of the folder, in this process or ``apart`` in one of its own."""
        run = self.pytester.runpytest_subprocess if apart else self.pytester.runpytest_inprocess
        result = run("-p", "no:cacheprovider", "-p", "no:hypothesispytest", *arguments)
        report = self.pytester.path / REPORT / "results.json"
        return Ran(result, json.loads(report.read_text(encoding="ascii")) if report.is_file() else {})

    def file(self, name: str, content: bytes | str = b"") -> Path:
        """A file in the folder of the run."""
        path = self.pytester.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path


def _flags(settings: Mapping[str, str | None]) -> list[str]:
    return ["--videodecode-suite"] + [
        f"--videodecode-{name.replace('_', '-')}={value}"
        for name, value in {**SMALL, **settings}.items()
        if value is not None
    ]
