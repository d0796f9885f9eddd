"""``videodecode doctor``: what this machine can make, decode and measure."""

from __future__ import annotations

import argparse
from typing import Any


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser("doctor", help="Say what this machine can make, decode and measure")
    parser.set_defaults(command=run)


def run(arguments: argparse.Namespace) -> int:
    """Exit status: 0 when nothing is missing that the main job needs."""
    from pytest_videodecode.doctor import examine

    del arguments
    healthy = True
    for finding in examine():
        healthy &= finding.good or not finding.needed
        mark = "ok" if finding.good else ("MISSING" if finding.needed else "absent")
        print(f"{mark:<8} {finding.what}: {finding.said}")
    return 0 if healthy else 1
