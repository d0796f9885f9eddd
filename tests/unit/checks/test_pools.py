from __future__ import annotations

import dataclasses

import av
import pytest
from planted import Crashes, Healthy, toy_clip

from pytest_videodecode.checks.asking import Ask
from pytest_videodecode.checks.pools import MOST_REPEATS, REPEATS, automatic_counts, sample
from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.model import Census, ClipSpec, DecodeRequest, Outcome

ASK = Ask("from the start", (0, 1))
AV1 = toy_clip(9, codec="av1")


def test_request_counts_threads_and_observes() -> None:
    decoder = Healthy(AV1)
    pool = sample(decoder.subject(), ASK, 4)
    assert [(r.threads, r.count_threads, r.observe) for r in decoder.requests] == [(4, True, True)] * REPEATS
    assert (pool.workers, pool.added, pool.asked) == (4, 4, "with threads=4 asked")
    assert pool.evidence()["contexts"] == ["libdav1d: opened 0 SLICE, left 4 SLICE"]
    assert pool.last.frames is None


def test_peak_is_the_most_of_all_repeats() -> None:
    decoder = Healthy(AV1)
    peaks = iter([(3, 1), (6, 4), (5, 2)])

    def decode(request: DecodeRequest) -> Outcome:
        peak, workers = next(peaks)
        census = Census(threads_before=2, threads_peak=peak, thread_names={"dav1d-worker": workers}, thread_samples=5)
        return dataclasses.replace(decoder.decode(request), census=census)

    pool = sample(decoder.subject(decode=decode), ASK, None)
    assert (pool.workers, pool.added, pool.samples) == (4, 4, 15)


def test_sampling_goes_on_while_hardly_anything_was_counted() -> None:
    decoder = Healthy(AV1)

    def decode(request: DecodeRequest) -> Outcome:
        return dataclasses.replace(decoder.decode(request), census=Census())

    pool = sample(decoder.subject(decode=decode), ASK, None)
    assert len(decoder.requests) == MOST_REPEATS
    assert (pool.samples, pool.workers, pool.added) == (0, 0, 0)
    assert "threads_added" not in pool.evidence()


def test_sampling_ends_with_a_crash() -> None:
    decoder = Crashes(AV1)
    pool = sample(decoder.subject(), ASK, None)
    assert pool.last.signal == "SIGSEGV"
    assert len(decoder.requests) == REPEATS


def test_contexts_of_other_codecs_are_left_out() -> None:
    decoder = Healthy(AV1)
    assert sample(decoder.subject(clip=toy_clip(9, codec="h264")), ASK, None).streams == ()


@pytest.mark.parametrize(
    ("codec", "height", "cores", "counts"),
    [
        ("h264", 1080, 2, {0, 3}),
        ("h264", 1080, 1, {0, 1}),
        ("h264", 1080, 64, {0, 16}),
        ("h264", 128, 64, {0, 9}),
        ("h264", 0, 2, {0, 3}),
        ("mpeg4", 128, 2, {0, 1, 3}),
    ],
)
def test_automatic_counts_follow_cores_and_rows(
    monkeypatch: pytest.MonkeyPatch, codec: str, height: int, cores: int, counts: set[int]
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: set(range(cores)), raising=False)
    assert automatic_counts(toy_clip(9, codec=codec, height=height)) == counts


@pytest.mark.parametrize("codec", ["h264", "mpeg4"])
def test_automatic_count_is_what_ffmpeg_writes(clip_cache: ClipCache, codec: str) -> None:
    clip = clip_cache.clip(ClipSpec(codec=codec))
    with av.open(clip.path) as container:
        stream = container.streams.video[0]
        next(container.decode(stream))
        assert stream.codec_context.thread_count in automatic_counts(clip) - {0}
