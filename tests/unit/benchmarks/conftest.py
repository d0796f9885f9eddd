"""The benchmarks are no part of the package; they are found from the root of the repository."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]

if str(ROOT) not in sys.path:
    sys.path.append(str(ROOT))
