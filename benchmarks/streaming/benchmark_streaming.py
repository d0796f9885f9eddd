"""Measure data loading alone, of the production loader, LeRobot's, or any other; README.md beside this says how."""

from __future__ import annotations

import sys

from streaming_benchmark.main import main

if __name__ == "__main__":  # workers that are spawned import this file
    sys.exit(main())
