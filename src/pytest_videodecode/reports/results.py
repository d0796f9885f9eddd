"""``results.json``: what was run, where, and every verdict."""

from __future__ import annotations

import json
import os
import tempfile
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
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".part", delete=False, encoding="utf-8") as file:
            json.dump(report, file, indent=1, ensure_ascii=False)
            file.write("\n")
        os.replace(file.name, target)
    except OSError as error:
        raise OptionError(f"cannot write the report {target}: {error.strerror}") from None
    return target
