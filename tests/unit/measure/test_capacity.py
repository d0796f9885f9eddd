from __future__ import annotations

import resource

import pytest

from pytest_videodecode.errors import MeasurementError
from pytest_videodecode.measure.capacity import require_files, require_memory


def test_seats_that_fit_are_let_through() -> None:
    require_files(2)
    require_memory("production", 2, 64 << 20)


def test_one_seat_that_is_there_already_needs_no_more_memory() -> None:
    require_memory("production", 1, 1 << 60)


def test_more_seats_than_memory_are_refused_in_one_line() -> None:
    with pytest.raises(MeasurementError, match=r"^9 seats of production \(\d+ MiB for one.* MiB are free") as caught:
        require_memory("production", 9, 1 << 40)
    assert "\n" not in str(caught.value)


def test_more_seats_than_open_files_are_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 4096))
    require_files(56)
    with pytest.raises(MeasurementError, match=r"^500 seats need about 4000 open files, the limit is 1024"):
        require_files(500)


def test_absurd_number_of_seats_is_refused_before_one_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    with pytest.raises(MeasurementError, match="seat fewer processes"):
        require_files(10**9)
