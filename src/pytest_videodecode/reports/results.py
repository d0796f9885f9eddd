"""``results.json``: what was run, where, and every verdict."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_videodecode.jsonform import to_json
from pytest_videodecode.model import Verdict
from pytest_videodecode.reports.files import write_whole

SCHEMA = "videodecode-results/1"


def results(verdicts: Sequence[Verdict], environment: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The report as builtin types."""
    return {
        "schema": SCHEMA,
        "seed": seed,
        "environment": to_json(environment),
        "verdicts": [to_json(verdict) for verdict in verdicts],
    }


def write_results(folder: Path, report: Mapping[str, Any]) -> Path:
    """Write ``results.json`` into ``folder``, whole or not at all.

    Raises:
        OptionError: when the folder cannot be written to.
    """
    return write_whole(folder / "results.json", json.dumps(report, indent=1) + "\n")
