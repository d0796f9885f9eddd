"""Verdicts known to be otherwise: written down with their reason, so that a change either way is noticed.

The file is TOML, a table per verdict::

    [[expected]]
    clip = "broadcast.ts"        # a clip's name; shell patterns are allowed in clip, check and decoder
    check = "seek_parity"
    decoder = "opencv"
    status = "failed"            # or "unsupported", "error"
    match = "frame 17"           # optional: must stand in the verdict's reason
    reason = "the index of this file is wrong, FFmpeg's -ss is late too"
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from pytest_videodecode.errors import OptionError, VideodecodeError
from pytest_videodecode.jsonform import from_json
from pytest_videodecode.model import Status, Verdict

_MAX_BYTES = 1 << 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Expected:
    """One expected verdict."""

    clip: str
    check: str
    status: Status
    reason: str
    decoder: str = "*"
    match: str = ""

    def __post_init__(self) -> None:
        if self.status is Status.PASSED:
            raise ValueError("status 'passed' needs no entry; give failed, unsupported or error")
        if not self.reason.strip():
            raise ValueError("reason is empty; say why the verdict is expected")

    def names(self, verdict: Verdict) -> bool:
        """Whether this entry is about ``verdict``."""
        return (
            fnmatchcase(verdict.clip, self.clip)
            and fnmatchcase(verdict.check, self.check)
            and fnmatchcase(verdict.decoder, self.decoder)
        )

    def came_true(self, verdict: Verdict) -> bool:
        """Whether it is just what was expected."""
        return verdict.status is self.status and self.match in verdict.reason


def load_expected(path: Path) -> tuple[Expected, ...]:
    """The entries of a file.

    Raises:
        OptionError: for a file that cannot be read, is no TOML, or has an entry that is not one.
    """
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_BYTES + 1)
        if len(text) > _MAX_BYTES:
            raise OptionError(f"{path}: more than {_MAX_BYTES} bytes of expected verdicts; name the right file")
        data = tomllib.loads(text.decode())
    except OSError as error:
        raise OptionError(f"cannot read the expected verdicts {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise OptionError(f"{path}: not TOML ({error})") from None
    entries = data.get("expected", [])
    if not isinstance(entries, list) or set(data) - {"expected"}:
        raise OptionError(f"{path}: write expected verdicts as [[expected]] tables, and nothing else")
    try:
        return tuple(from_json(Expected, entry, f"{path}: expected[{i}]") for i, entry in enumerate(entries))
    except VideodecodeError as error:
        raise OptionError(str(error)) from None


def compare(verdict: Verdict, entries: Sequence[Expected]) -> Verdict:
    """``verdict`` against what was expected of it: marked as expected, or failed because it changed."""
    entry = next((entry for entry in entries if entry.names(verdict)), None)
    if entry is None:
        return verdict
    if entry.came_true(verdict):
        return replace(verdict, expected=entry.reason)
    came = f"{verdict.status}: {verdict.reason}" if verdict.reason else str(verdict.status)
    wanted = f"{entry.status} ({entry.match})" if entry.match else str(entry.status)
    return replace(
        verdict,
        status=Status.FAILED,
        reason=f"expected {wanted} because {entry.reason}; now it is {came}; bring the expected verdict up to date",
    )
