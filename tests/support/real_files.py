"""Where the real files are: beside the repository, never in it."""

from __future__ import annotations

import os
from pathlib import Path

REAL = Path(os.environ.get("VIDEODECODE_REAL", Path(__file__).parents[3] / "shared" / "real"))

ABSENT = "the real files are absent (set VIDEODECODE_REAL to their folder)"
