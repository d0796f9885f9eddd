from __future__ import annotations

import email.utils
import logging
import random
import time
from typing import Any

import pytest

from pytest_videodecode.production.sources.errors import SourceUnreachableError
from pytest_videodecode.production.sources.retry import Retry, SourceStatistics, may_pass, retry_after_s

QUICK = Retry(attempts=4, first_wait_s=0.001)


class Response:
    def __init__(self, status_code: int, headers: dict[str, str] | None = None) -> None:
        self.status_code, self.headers = status_code, headers or {}


class StatusError(Exception):
    """As httpx, requests and huggingface_hub raise it."""

    def __init__(self, status: int, headers: dict[str, str] | None = None) -> None:
        super().__init__(f"status {status}")
        self.response = Response(status, headers)


class OtherStatusError(Exception):
    """As aiohttp raises it."""

    def __init__(self, status: int) -> None:
        super().__init__(f"status {status}")
        self.status = status


class Asked:
    """Raises the given faults one after another, then answers."""

    def __init__(self, *faults: Exception) -> None:
        self.faults, self.times = list(faults), 0

    def __call__(self) -> str:
        self.times += 1
        if self.faults:
            raise self.faults.pop(0)
        return "answer"


PASSING = [
    ConnectionResetError("reset"),
    TimeoutError(),
    OSError("some network file system"),
    *[StatusError(status) for status in (408, 425, 429, 500, 502, 503, 504)],
    OtherStatusError(503),
]
PERMANENT = [
    FileNotFoundError("no"),
    PermissionError("no"),
    IsADirectoryError("no"),
    ValueError("bad address"),
    ImportError("no s3fs"),
    KeyError("a fault of our own"),
    *[StatusError(status) for status in (400, 401, 403, 404, 410, 416)],
    OtherStatusError(404),
]


@pytest.mark.parametrize("fault", PASSING, ids=repr)
def test_fault_that_may_pass_is_asked_again_and_counted(fault: Exception) -> None:
    asked, count = Asked(fault, fault), SourceStatistics()
    assert QUICK.run("file", asked, count) == "answer"
    assert (asked.times, count.requests, count.retries) == (3, 3, 2)
    assert sum(count.faults.values()) == 2
    assert count.waited_s > 0


@pytest.mark.parametrize("fault", PERMANENT, ids=repr)
def test_permanent_fault_is_raised_at_once(fault: Exception) -> None:
    asked, count = Asked(fault), SourceStatistics()
    with pytest.raises(type(fault)):
        QUICK.run("file", asked, count)
    assert (asked.times, count.retries, count.faults) == (1, 0, {})


def test_errors_of_http_clients_are_known_by_their_root() -> None:
    root = type("TransportError", (Exception,), {"__module__": "httpx2._exceptions"})
    other = type("TransportError", (Exception,), {"__module__": "of_mine"})
    assert may_pass(type("ReadTimeout", (root,), {})())
    assert not may_pass(type("ReadTimeout", (other,), {})())


def test_source_that_never_answers_is_given_up_in_one_line() -> None:
    asked = Asked(*[ConnectionRefusedError("refused\nby the host")] * 9)
    with pytest.raises(SourceUnreachableError) as raised:
        QUICK.run("hf://datasets/a/b", asked, SourceStatistics())
    assert asked.times == 4
    assert str(raised.value) == (
        "hf://datasets/a/b: unreachable, given up after try 4 of 4 and 0 s (ConnectionRefusedError: refused by the "
        "host); check the network and the address, or use a local copy"
    )


def test_every_retry_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        QUICK.run("the file", Asked(StatusError(503)), SourceStatistics())
    assert [record.message.partition(" in ")[0] for record in caplog.records] == ["the file: HTTP 503; try 2 of 4"]


def waits(monkeypatch: pytest.MonkeyPatch, retry: Retry, *faults: Exception) -> list[float]:
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    retry.run("file", Asked(*faults), SourceStatistics())
    return slept


def test_waits_double_up_to_the_longest_and_are_never_all_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    retry = Retry(attempts=6, first_wait_s=1.0, longest_wait_s=4.0)
    slept = waits(monkeypatch, retry, *[StatusError(503)] * 5)
    for wait, full in zip(slept, (1, 2, 4, 4, 4), strict=True):
        assert full / 2 <= wait <= full
    assert waits(monkeypatch, retry, *[StatusError(503)] * 5) != slept


def test_retry_after_is_waited_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert waits(monkeypatch, QUICK, StatusError(429, {"Retry-After": "7"})) == [7.0]
    date = email.utils.formatdate(time.time() + 30, usegmt=True)
    (wait,) = waits(monkeypatch, QUICK, StatusError(503, {"retry-after": date}))
    assert 25 < wait <= 30


def test_retry_after_beyond_the_limit_ends_the_asking() -> None:
    asked = Asked(StatusError(429, {"Retry-After": "3600"}))
    with pytest.raises(SourceUnreachableError, match="HTTP 429; it asks to be left alone for 3600 s"):
        QUICK.run("file", asked, SourceStatistics())
    assert asked.times == 1


@pytest.mark.parametrize("said", ["", "soon", "-3", "1e9", "9" * 40, "Thu, 01 Jan 1970 00:00:00 GMT", "٣"])
def test_retry_after_that_says_nothing_is_no_wait(said: str) -> None:
    assert retry_after_s(StatusError(429, {"Retry-After": said})) == 0
    assert retry_after_s(ConnectionError()) == 0


def test_jitter_leaves_the_shuffling_generators_alone() -> None:
    random.seed(3)
    state: Any = random.getstate()
    QUICK.run("file", Asked(StatusError(503)), SourceStatistics())
    assert random.getstate() == state
