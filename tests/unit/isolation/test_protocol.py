from __future__ import annotations

import os
import struct
from collections.abc import Iterator

import pytest

from pytest_videodecode.errors import FormError, WorkerError
from pytest_videodecode.isolation.channel import Channel
from pytest_videodecode.isolation.protocol import read_message, write_message


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for fd in ends:
        try:
            os.close(fd)
        except OSError:
            assert fd == ends[1], "only the writing end is closed by a test"


def test_message_comes_back(pipe: tuple[int, int]) -> None:
    write_message(pipe[1], b'{"a": [1, null]}')
    assert read_message(pipe[0]) == {"a": [1, None]}


def test_end_of_file_is_no_message(pipe: tuple[int, int]) -> None:
    os.close(pipe[1])
    assert read_message(pipe[0]) is None


def test_message_cut_short_is_end_of_file(pipe: tuple[int, int]) -> None:
    os.write(pipe[1], struct.pack("<I", 100) + b"{")
    os.close(pipe[1])
    assert read_message(pipe[0]) is None


def test_length_beyond_all_bounds_is_refused(pipe: tuple[int, int]) -> None:
    os.write(pipe[1], b"\xff" * 8)
    with pytest.raises(WorkerError, match="4294967295 bytes"):
        read_message(pipe[0])


def test_body_that_is_no_json_is_refused(pipe: tuple[int, int]) -> None:
    os.write(pipe[1], struct.pack("<I", 2) + b"\xff\xfe")
    with pytest.raises(FormError):
        read_message(pipe[0])


@pytest.mark.parametrize("shape", [(1, 2, 3), (0, 4, 4, 3), (2, -1, 4, 3), (1 << 40, 1 << 40, 1 << 40, 3)])
def test_shape_that_the_shared_file_does_not_hold_is_refused(shape: tuple[int, ...]) -> None:
    channel = Channel()
    with pytest.raises(WorkerError, match="not in the shared file"):
        channel.take(shape)
    channel.close()
