"""Asking a remote source again: which faults may pass, how long to wait, and when to stop.

A permanent fault (no such file, access refused, a bad request) is never asked again. Every other one is counted and
logged, and asked again after a wait that doubles, with jitter so that many workers do not come back at once; a
``Retry-After`` of the server is waited out, or ends the asking where it exceeds the limit.
"""

from __future__ import annotations

import email.utils
import logging
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from pytest_videodecode.production.errors import VideoReadError
from pytest_videodecode.production.sources.errors import SourceUnreachableError

T = TypeVar("T")

logger = logging.getLogger(__name__)

_PERMANENT = (
    VideoReadError,
    FileNotFoundError,
    PermissionError,
    IsADirectoryError,
    NotADirectoryError,
    ValueError,
    TypeError,
    LookupError,
    NotImplementedError,
    ImportError,
)
# Roots of what HTTP clients raise for a connection that failed, none of them an OSError; their packages may be absent.
_PASSING = {("httpx", "TransportError"), ("httpx2", "TransportError"), ("aiohttp", "ClientError")}
_PASSING_STATUS = (408, 425, 429, 500, 502, 503, 504)

# Apart from the generators that shuffle samples: waits must not change their order.
_jitter = random.SystemRandom()


class IncompleteAnswerError(ConnectionError):
    """A source gave fewer or more bytes than were asked."""


@dataclass(slots=True)
class SourceStatistics:
    """What was asked of a source so far. ``faults`` counts the faults that passed, by error type or HTTP status."""

    requests: int = 0
    retries: int = 0
    waited_s: float = 0.0
    bytes: int = 0
    faults: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Retry:
    """How often and how long one thing is asked: ``attempts`` times, and no new try after ``limit_s`` seconds."""

    attempts: int = 6
    first_wait_s: float = 0.5
    longest_wait_s: float = 20.0
    limit_s: float = 120.0

    def run(self, what: str, ask: Callable[[], T], count: SourceStatistics) -> T:
        """What ``ask`` returns, in as many tries as it takes.

        Raises:
            SourceUnreachableError: no try brought it; ``what`` begins the message.
            Exception: the permanent fault that ``ask`` raised.
        """
        began = time.monotonic()
        attempt = 0
        while True:
            attempt += 1
            count.requests += 1
            try:
                return ask()
            except Exception as error:
                if not may_pass(error):
                    raise
                fault, told_s = describe(error), retry_after_s(error)
                kind = fault.partition(":")[0]
                count.faults[kind] = count.faults.get(kind, 0) + 1
                wait_s = max(told_s, self._own_wait_s(attempt))
                spent_s = time.monotonic() - began
                if attempt >= self.attempts or spent_s + wait_s > self.limit_s:
                    told = f"; it asks to be left alone for {told_s:.0f} s" if told_s else ""
                    raise SourceUnreachableError(
                        f"{what}: unreachable, given up after try {attempt} of {self.attempts} and {spent_s:.0f} s "
                        f"({fault}{told}); check the network and the address, or use a local copy"
                    ) from error
            count.retries += 1
            count.waited_s += wait_s
            logger.warning("%s: %s; try %d of %d in %.2f s", what, fault, attempt + 1, self.attempts, wait_s)
            time.sleep(wait_s)

    def _own_wait_s(self, attempt: int) -> float:
        return min(self.longest_wait_s, self.first_wait_s * 2.0 ** (attempt - 1)) * _jitter.uniform(0.5, 1.0)


def may_pass(error: Exception) -> bool:
    """Whether asking again makes sense after ``error``: by HTTP status where there is one, else by its type."""
    status = http_status(error)
    if status is not None:
        return status in _PASSING_STATUS
    if isinstance(error, _PERMANENT):
        return False
    kinds = {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(error).__mro__}
    return isinstance(error, OSError) or bool(kinds & _PASSING)


def describe(error: Exception) -> str:
    """``error`` in a few words, on one line."""
    status = http_status(error)
    if status is not None:
        return f"HTTP {status}"
    said = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def retry_after_s(error: Exception) -> float:
    """How long the server asks to be left alone, in seconds or until a date; 0 where it does not say."""
    headers = getattr(getattr(error, "response", None), "headers", None) or getattr(error, "headers", None) or {}
    said = str(headers.get("Retry-After") or headers.get("retry-after") or "").strip()
    if said.isascii() and said.isdigit() and len(said) < 10:
        return float(said)
    try:
        until = email.utils.parsedate_to_datetime(said)
    except ValueError:
        return 0.0
    aware = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())


def http_status(error: Any) -> int | None:
    """The HTTP status in an error of httpx, requests or huggingface_hub (``response``), or of aiohttp."""
    for where, name in ((getattr(error, "response", None), "status_code"), (error, "status"), (error, "code")):
        status = getattr(where, name, None)
        if isinstance(status, int) and 400 <= status < 600:
            return status
    return None
