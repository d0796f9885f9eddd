from __future__ import annotations

from collections.abc import Iterator

import av.logging
import pytest

from pytest_videodecode.decoders.pyav_log import LOG_LEVELS, log_level


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    before = av.logging.get_level()
    yield
    av.logging.set_level(before)


@pytest.mark.parametrize("before", [None, av.logging.WARNING])
@pytest.mark.parametrize("name", LOG_LEVELS)
def test_level_holds_inside_and_is_restored_afterwards(name: str, before: int | None) -> None:
    av.logging.set_level(before)
    inside = []

    def fail() -> None:
        with log_level(name):
            inside.append(av.logging.get_level())
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert inside == [getattr(av.logging, name)]
    assert av.logging.get_level() == before


def test_no_name_leaves_the_level_alone() -> None:
    av.logging.set_level(av.logging.INFO)
    with log_level(None):
        assert av.logging.get_level() == av.logging.INFO
        av.logging.set_level(av.logging.ERROR)
    assert av.logging.get_level() == av.logging.ERROR


def test_unknown_level_is_refused() -> None:
    with pytest.raises(ValueError, match="log level 'LOUD' is unknown; known are PANIC, FATAL"), log_level("LOUD"):
        pytest.fail("entered with a level that does not exist")
