"""How every file of a report is written: whole or not at all, so that what was there before is never half lost."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_videodecode.errors import OptionError


def write_whole(target: Path, text: str) -> Path:
    """Write ``text`` to ``target`` in UTF-8, and make its folder if need be. Returns ``target``.

    Raises:
        OptionError: when it cannot be written there; what was there is still there.
    """
    part = target.with_name(f".{target.name}-{os.getpid()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            # a file's name need not be text that UTF-8 can hold
            part.write_text(text, encoding="utf-8", errors="backslashreplace")
            os.replace(part, target)
        finally:
            part.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise OptionError(f"cannot write the report {target}: {reason}; give a folder to write in") from None
    return target
