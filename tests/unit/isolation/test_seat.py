from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.decoders import registry
from pytest_videodecode.decoders.base import Decoder, LoadedDecoder
from pytest_videodecode.decoders.spec import parse
from pytest_videodecode.isolation.channel import Channel
from pytest_videodecode.isolation.heartbeat import Heartbeat
from pytest_videodecode.isolation.protocol import Go, Sample, SeatOrder
from pytest_videodecode.isolation.seat import Seated
from pytest_videodecode.model import ClipSpec, DecodeRequest, DecoderInfo

ONCE = Go(seconds=1e-9)


@pytest.fixture
def heartbeat() -> Iterator[Heartbeat]:
    channel = Channel()
    heartbeat = Heartbeat(channel.theirs[2])
    yield heartbeat
    heartbeat.set_period(None)  # its thread outlives the test
    channel.close()


def pictures(request: DecodeRequest) -> Any:
    """The number of each index as its colour."""
    return np.stack([np.full((32, 48, 3), index, np.uint8) for index in request.indices or ()])


def decoder_of(run: Callable[[DecodeRequest], Any]) -> Decoder:
    return LoadedDecoder(info=DecoderInfo(name="fake"), run=run)


def order(*starts: int, rehearse: bool = True, path: str = "any.mp4") -> SeatOrder:
    samples = tuple(
        Sample(name=f"from {start}", requests=(DecodeRequest(path=path, indices=(start, start + 2)),) * 2)
        for start in starts
    )
    return SeatOrder(seat=5, samples=samples, rehearse=rehearse)


def test_rehearsal_digests_each_sample_and_go_each_once_more(heartbeat: Heartbeat) -> None:
    seated = Seated(decoder_of(pictures), order(1, 2), heartbeat)
    ready = seated.rehearse()
    done = seated.go(Go(seconds=60, most=2))
    assert (ready.seat, ready.lost, ready.samples) == (5, "", 0)
    assert sorted(ready.digests) == ["from 1", "from 2"]
    assert ready.digests["from 1"] != ready.digests["from 2"]
    assert done.digests == ready.digests
    assert (done.samples, done.frames, len(done.latencies_s), done.unsteady) == (2, 8, 2, False)


def test_sample_under_way_is_finished(heartbeat: Heartbeat) -> None:
    done = Seated(decoder_of(pictures), order(1, rehearse=False), heartbeat).go(ONCE)
    assert (done.samples, done.frames) == (1, 4)
    assert done.wall_s == pytest.approx(sum(done.latencies_s))


def test_samples_are_decoded_in_turn(heartbeat: Heartbeat) -> None:
    asked = []

    def note(request: DecodeRequest) -> Any:
        asked.append((request.indices or (0,))[0])
        return pictures(request)

    Seated(decoder_of(note), order(1, 2, 3, rehearse=False), heartbeat).go(Go(seconds=60, most=4))
    assert asked[::2] == [1, 2, 3, 1]


def test_pictures_one_by_one_are_a_batch(heartbeat: Heartbeat) -> None:
    whole = Seated(decoder_of(pictures), order(1), heartbeat).rehearse()
    lazy = Seated(decoder_of(lambda request: iter(pictures(request))), order(1), heartbeat).rehearse()
    assert lazy.digests == whole.digests


@pytest.mark.parametrize("changed_at", [2, 3], ids=["in the middle", "at the end"])
def test_other_pixels_for_the_same_sample_are_unsteady(heartbeat: Heartbeat, changed_at: int) -> None:
    calls = 0

    def drifts(request: DecodeRequest) -> Any:
        nonlocal calls
        calls += 1
        frames = pictures(request)
        if calls == 2 * changed_at:  # two requests make a sample
            frames[1, 16] += 1
        return frames

    seated = Seated(decoder_of(drifts), order(1), heartbeat)
    seated.rehearse()
    assert seated.go(Go(seconds=60, most=2)).unsteady


def test_last_sample_is_compared_in_every_pixel(heartbeat: Heartbeat) -> None:
    calls = 0

    def drifts(request: DecodeRequest) -> Any:
        nonlocal calls
        calls += 1
        frames = pictures(request)
        frames[0, 7, 3, 1] += calls == 4
        return frames

    seated = Seated(decoder_of(drifts), order(1), heartbeat)
    seated.rehearse()
    assert seated.go(Go(seconds=60, most=1)).unsteady


def test_error_makes_a_lost_seat_that_names_the_sample(heartbeat: Heartbeat) -> None:
    def fails(request: DecodeRequest) -> Any:
        if request.indices == (2, 4):
            raise ValueError("not\nthis one")
        return pictures(request)

    seated = Seated(decoder_of(fails), order(1, 2), heartbeat)
    assert seated.rehearse().lost == "ValueError: not this one (sample from 2)"
    assert seated.go(Go(seconds=60, most=2)).lost == "ValueError: not this one (sample from 2)"


def test_fewer_frames_than_asked_are_no_throughput(heartbeat: Heartbeat) -> None:
    lost = Seated(decoder_of(lambda request: pictures(request)[1:]), order(1), heartbeat).go(ONCE).lost
    assert "1 frames came of 2 asked" in lost


def test_cpu_of_threads_that_have_ended_counts(heartbeat: Heartbeat) -> None:
    def burn() -> None:
        while time.thread_time() < 0.05:
            pass

    def threaded(request: DecodeRequest) -> Any:
        thread = threading.Thread(target=burn)
        thread.start()
        thread.join()
        return pictures(request)

    done = Seated(decoder_of(threaded), order(1, rehearse=False), heartbeat).go(ONCE)
    assert done.cpu_s > 0.08, "two requests, 0.05 s each"
    assert done.voluntary_switches >= 2
    assert done.rss_peak > 1 << 20


def test_digests_are_charged_to_the_measuring(heartbeat: Heartbeat) -> None:
    kept = np.zeros((2, 1024, 1024, 3), np.uint8)
    seated = Seated(decoder_of(lambda request: kept), order(1, rehearse=False), heartbeat)
    done = seated.go(ONCE)
    assert done.measuring_s > done.cpu_s, "of a decoder that does nothing, the measuring is all there is"


def test_frames_that_the_codec_gave_out_are_counted(heartbeat: Heartbeat, clip_cache: ClipCache) -> None:
    path = clip_cache.clip(ClipSpec(codec="h264")).path
    seated = Seated(registry.load(parse("pyav")), order(5, 6, path=path), heartbeat)
    assert seated.rehearse().lost == ""
    # two requests, each from the first frame to the last one asked: 8 frames or 9
    assert seated.go(Go(seconds=60, most=3)).decoded_frames == pytest.approx(3 * 2 * (8 + 9) / 2)


def test_frames_that_nobody_saw_decoded_are_not_guessed(heartbeat: Heartbeat) -> None:
    seated = Seated(decoder_of(pictures), order(1), heartbeat)
    seated.rehearse()
    done = seated.go(ONCE)
    assert (done.samples, done.decoded_frames) == (1, None)
