"""Where seats of several processes meet before they go: files in a folder that all of them can write to."""

from __future__ import annotations

import json
import math
import os
import secrets
import time
from pathlib import Path

from pytest_videodecode.errors import MeasurementError

_POLL_S = 0.005

#: Those who wait have this long to read that it begins, so that all begin at the same moment.
_NOTICE_S = 0.05


class FolderBarrier:
    """Seat ``seat`` of ``seats`` (numbered from 0), which meet in ``folder`` to start and to part, once each.

    A party that never comes holds the others up for ``limit_s`` seconds from the first arrival on, one that says
    that it will not come (``leave``) does not. All times are on the clock of ``time.monotonic``, which on Linux is
    one for all processes of a machine (clock_gettime(2): since boot).
    """

    def __init__(self, folder: Path, seat: int, seats: int, limit_s: float) -> None:
        if not 0 <= seat < seats:
            raise MeasurementError(f"seat {seat} of {seats}: there is no such seat")
        self.seat = seat
        self._folder = folder
        self._seats = seats
        self._limit_s = limit_s

    def meet(self) -> None:
        """Wait for the others, and return at the moment when those who are there go.

        Raises:
            MeasurementError: the others are gone already, or the folder cannot be used.
        """
        late_s = self._wait("start")
        if late_s > 0:
            raise MeasurementError(f"seat {self.seat} came {late_s:.1f} s after the others had gone")

    def part(self) -> None:
        """Wait until the others have finished too: what comes next must not disturb them."""
        self._wait("end")

    def _wait(self, what: str) -> float:
        """How many seconds ago the others stopped waiting; 0 for one who came in time, and waited with them."""
        now = time.monotonic()
        self._say(f"{what}.{self.seat}", "")
        deadline = self._agree(f"{what}-first", now) + self._limit_s
        moment = self._read(what)
        if moment is not None and moment < now:
            return now - moment
        while moment is None:
            if self._accounted_for(what) >= self._seats or time.monotonic() >= deadline:
                moment = self._agree(what, time.monotonic() + _NOTICE_S)
            else:
                time.sleep(_POLL_S)
                moment = self._read(what)
        time.sleep(min(max(0.0, moment - time.monotonic()), _NOTICE_S))
        return 0.0

    def leave(self) -> None:
        """Say that this seat will not come, or is gone; the others need not wait for it."""
        self._say(f"left.{self.seat}", "")

    def _accounted_for(self, what: str) -> int:
        try:
            names = [name.partition(".") for name in os.listdir(self._folder)]
        except OSError as error:
            raise self._unusable(error.strerror) from None
        return len({seat for how, _, seat in names if how in (what, "left")} - {""})

    def _agree(self, name: str, value: float) -> float:
        """``value``, or what another party has said under this name before."""
        self._say(name, json.dumps(value), only_first=True)
        said = self._read(name)
        return value if said is None else said

    def _say(self, name: str, text: str, *, only_first: bool = False) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            new = self._folder / f"new-{secrets.token_hex(8)}"
            new.write_text(text)
            try:
                os.link(new, self._folder / name)
            except FileExistsError:
                if not only_first:
                    os.replace(new, self._folder / name)
            finally:
                new.unlink(missing_ok=True)
        except OSError as error:
            raise self._unusable(error.strerror) from None

    def _read(self, name: str) -> float | None:
        try:
            moment = float(json.loads((self._folder / name).read_bytes()))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError) as error:
            raise self._unusable(f"{name} is not a time ({error})") from None
        if not math.isfinite(moment):
            raise self._unusable(f"{name} is not a time ({moment})")
        return moment

    def _unusable(self, why: str | None) -> MeasurementError:
        return MeasurementError(
            f"seats cannot meet in {self._folder}: {why}; leave the folder alone while a run meets there"
        )
