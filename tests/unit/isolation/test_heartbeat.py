from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from pytest_videodecode.isolation.channel import Channel
from pytest_videodecode.isolation.heartbeat import Heartbeat


@pytest.fixture
def channel() -> Iterator[Channel]:
    channel = Channel()
    yield channel
    channel.close()


@pytest.fixture
def heartbeat(channel: Channel) -> Iterator[Heartbeat]:
    heartbeat = Heartbeat(channel.theirs[2])
    yield heartbeat
    heartbeat.set_period(None)  # its thread outlives the test


def beats_within(channel: Channel, seconds: float, count: int) -> bool:
    """Whether so many beats come, waiting no longer than needed."""
    start, deadline = channel.beats(), time.monotonic() + seconds
    while time.monotonic() < deadline:
        if channel.beats() >= start + count:
            return True
        time.sleep(0.001)
    return False


@pytest.mark.usefixtures("heartbeat")
def test_beats_are_seen_by_the_parent(channel: Channel) -> None:
    assert beats_within(channel, 10, 3)


def test_rest_ends_with_the_next_period(channel: Channel, heartbeat: Heartbeat) -> None:
    heartbeat.set_period(None)
    while beats_within(channel, 0.1, 1):
        pass  # it ends: a resting heart beats no more
    heartbeat.set_period(0.001)
    assert beats_within(channel, 10, 3)


def test_progress_is_not_taken_for_a_beat(channel: Channel, heartbeat: Heartbeat) -> None:
    heartbeat.sample_done(7)
    assert channel.progress() == 7
    assert beats_within(channel, 10, 1)
    assert channel.progress() == 7


def test_what_the_beating_costs_is_known(channel: Channel, heartbeat: Heartbeat) -> None:
    assert beats_within(channel, 10, 5)
    assert heartbeat.cost.voluntary >= 4
    assert heartbeat.cost.cpu_s > 0
