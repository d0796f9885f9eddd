from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from planted import Healthy, error, toy_clip

from pytest_videodecode.checks.asking import INDEX, TIMESTAMP
from pytest_videodecode.checks.sides import TWIN, sides
from pytest_videodecode.errors import Unsupported
from pytest_videodecode.model import DecodeRequest, Outcome, OutcomeKind

CLIP = toy_clip(12)


def taking(*ways: str) -> Callable[[DecodeRequest], Outcome]:
    """A second decoder that is asked in these ways only."""

    def decode(request: DecodeRequest) -> Outcome:
        by = "indices" if request.indices is not None else "timestamps"
        refused = error(Unsupported, f"is not asked by {by}") if by not in ways else None
        return Outcome(kind=OutcomeKind.ERROR if refused else OutcomeKind.FRAMES, error=refused)

    return decode


def test_every_count_is_a_side_one_thread_first() -> None:
    names = [side.name for side in sides(Healthy(CLIP).subject())]
    assert names == ["threads=1", "threads=0", "threads=2", "threads=4"]


def test_thread_types_are_tried_at_the_highest_count() -> None:
    decoder = Healthy(CLIP)
    info = replace(decoder.info, thread_types=("SLICE", "FRAME"))
    names = [side.name for side in sides(decoder.subject(decoder=info, threads=(2, 1)))]
    assert names == ["threads=1", "threads=2", "threads=2 SLICE", "threads=2 FRAME"]


def test_decoder_without_thread_count_is_one_side_and_a_twin_another() -> None:
    decoder = Healthy(CLIP)
    info = replace(decoder.info, threads_by="")
    assert [side.name for side in sides(decoder.subject(decoder=info))] == ["this decoder"]
    both = sides(decoder.subject(decoder=info, twin=taking("indices", "timestamps")))
    assert [side.name for side in both] == ["this decoder", TWIN]


def test_twin_is_asked_in_the_ways_it_takes_and_left_out_where_there_is_none() -> None:
    decoder = Healthy(CLIP)
    for ways, expected in ((("indices",), (INDEX,)), (("timestamps",), (TIMESTAMP,))):
        *_, twin = sides(decoder.subject(twin=taking(*ways)))
        assert (twin.name, twin.ways) == (TWIN, expected)
    assert TWIN not in [side.name for side in sides(decoder.subject(twin=taking()))]


def test_windows_are_asked_by_every_way_in_turn() -> None:
    side, *_ = sides(Healthy(CLIP).subject())
    assert [ask.by for ask in side.asks([(0,), (1,), (2,)])] == [INDEX, TIMESTAMP, INDEX]


def test_request_goes_to_the_copy_with_the_setting() -> None:
    decoder = Healthy(CLIP)
    *_, last = sides(decoder.subject(decoder=replace(decoder.info, thread_types=("FRAME",)), threads=(1, 3)))
    (ask,) = last.asks([(4, 5)])
    request = last.request(ask, CLIP, "copy.mp4")
    assert (request.path, request.indices, request.threads, request.thread_type) == ("copy.mp4", (4, 5), 3, "FRAME")
