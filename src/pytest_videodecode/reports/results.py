"""``results.json``: what was run, where, and every verdict."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_videodecode.errors import OptionError
from pytest_videodecode.jsonform import to_json
from pytest_videodecode.model import Verdict

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
    target = folder / "results.json"
    part = folder / f".results-{os.getpid()}.part"
    text = json.dumps(report, indent=1) + "\n"  # ASCII: a file's name need not be text that UTF-8 can hold
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            part.write_text(text, encoding="ascii")
            os.replace(part, target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise OptionError(f"cannot write the report {target}: {error.strerror}; give a folder to write in") from None
    return target
