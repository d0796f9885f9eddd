from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from planted import (
    AutomaticPool,
    CapsEveryCodec,
    ConversionPool,
    GrowsUnseen,
    Healthy,
    IgnoresOverride,
    PoolPerCore,
    error,
    toy_clip,
)

from pytest_videodecode.checks.base import run
from pytest_videodecode.checks.thread_cap import thread_cap
from pytest_videodecode.model import Census, DecodeRequest, Observed, Outcome, OutcomeKind, Status, Verdict

AV1 = toy_clip(48, codec="av1")
H264 = toy_clip(48, height=128)


@pytest.fixture(autouse=True)
def eight_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host on which an automatic pool is larger than the cap."""
    with_cores(monkeypatch, 8)


def with_cores(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: set(range(count)), raising=False)


def unobserved(decoder: Healthy, **changes: Any) -> Any:
    """``decode`` of a worker that sees no codec context, with more of the outcome changed."""

    def decode(request: DecodeRequest) -> Outcome:
        nothing = Observed(reason="the decoder opened no file through av.open")
        return dataclasses.replace(decoder.decode(request), observed=nothing, **changes)

    return decode


def check(decoder: Healthy, cap: int | None = 2, **changes: Any) -> Verdict:
    return run(thread_cap, decoder.subject(decoder=dataclasses.replace(decoder.info, thread_cap=cap), **changes))


def test_large_host_shows_the_cap_in_threads_and_context() -> None:
    verdict = check(Healthy(AV1))
    assert verdict.status is Status.PASSED
    assert verdict.evidence["default_judged_by"] == "OS threads and the codec context"
    assert [pool["threads"] for pool in verdict.evidence["pools"]] == [None, 1, 4, 0, 16]


def test_small_host_shows_the_cap_in_the_context_only(monkeypatch: pytest.MonkeyPatch) -> None:
    with_cores(monkeypatch, 2)
    verdict = check(Healthy(AV1))
    assert (verdict.status, verdict.evidence["default_judged_by"]) == (Status.PASSED, "the codec context")
    verdict = check(AutomaticPool(AV1))
    assert verdict.status is Status.FAILED
    assert "libdav1d was opened with thread_count 0 (FFmpeg's automatic choice, one per core)" in verdict.reason


def test_small_host_without_context_cannot_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    with_cores(monkeypatch, 2)
    for decoder in (Healthy(AV1), AutomaticPool(AV1)):
        verdict = check(decoder, decode=unobserved(decoder))
        assert verdict.status is Status.UNSUPPORTED
        assert "an automatic pool has 2 threads on this host, no more than the cap of 2" in verdict.reason


def test_threads_alone_are_evidence_on_a_large_host() -> None:
    decoder = Healthy(AV1)
    verdict = check(decoder, decode=unobserved(decoder))
    assert (verdict.status, verdict.evidence["default_judged_by"]) == (Status.PASSED, "OS threads")
    for fault in (AutomaticPool(AV1), PoolPerCore(AV1), IgnoresOverride(AV1), ConversionPool(AV1)):
        assert check(fault, decode=unobserved(fault)).status is Status.FAILED


def test_ignored_override_is_seen_in_threads_alone() -> None:
    decoder = IgnoresOverride(AV1)
    verdict = check(decoder, decode=unobserved(decoder))
    assert verdict.reason.startswith("with threads=1 asked: 2 dav1d-worker threads at peak, expected 0")
    assert "with threads=4 asked: 2 dav1d-worker threads at peak, expected 4" in verdict.evidence["wrong"]


def test_threads_missed_by_the_sampling_are_believed_from_the_context() -> None:
    decoder = Healthy(AV1)

    def decode(request: DecodeRequest) -> Outcome:
        census = Census(threads_before=2, threads_peak=2, thread_samples=1)
        return dataclasses.replace(decoder.decode(request), census=census)

    assert check(decoder, decode=decode).status is Status.PASSED


def test_cap_of_one_leaves_no_worker() -> None:
    verdict = check(Healthy(AV1), cap=1)
    assert verdict.status is Status.FAILED
    assert "2 dav1d-worker threads at peak, and the promised cap is 1" in verdict.reason


def test_conversion_counts_against_every_promised_count() -> None:
    verdict = check(ConversionPool(AV1))
    assert verdict.evidence["wrong_in_all"] == 4
    assert "with threads=1 asked: 2 OS threads added at peak, 0 of them libdav1d's, and 1 were asked" in "".join(
        verdict.evidence["wrong"]
    )


def test_without_a_promise_av1_overrides_are_judged_and_the_default_reported() -> None:
    verdict = check(PoolPerCore(AV1), cap=None)
    assert (verdict.status, verdict.evidence["default_judged_by"]) == (
        Status.PASSED,
        "nothing: no cap is promised",
    )
    assert check(ConversionPool(AV1), cap=None).status is Status.PASSED
    verdict = check(IgnoresOverride(AV1), cap=None)
    assert verdict.status is Status.FAILED
    assert verdict.reason.startswith("with threads=1 asked: libdav1d was opened with thread_count 2, expected 1")


def test_without_a_promise_other_codecs_are_unsupported() -> None:
    verdict = check(CapsEveryCodec(H264), cap=None)
    assert verdict.status is Status.UNSUPPORTED
    assert verdict.reason.endswith("thread_cap=N in its spec makes the promise")


@pytest.mark.parametrize("codec", ["h264", "hevc", "vp9", "mpeg4"])
def test_untouched_codec_passes_and_a_set_count_fails(codec: str) -> None:
    clip = toy_clip(48, codec=codec, height=128)
    verdict = check(Healthy(clip))
    assert (verdict.status, verdict.reason) == (Status.PASSED, "")
    assert verdict.evidence["judged_by"] == "the codec context and OS threads"
    assert check(CapsEveryCodec(clip)).status is Status.FAILED


def test_growth_is_seen_without_a_context() -> None:
    growing = GrowsUnseen(H264)
    verdict = check(growing, decode=unobserved(growing))
    assert verdict.status is Status.FAILED
    assert "with threads=1 asked: 4 OS threads added at peak where 3 are added with no count asked" in verdict.reason
    decoder = Healthy(H264)
    verdict = check(decoder, decode=unobserved(decoder))
    assert (verdict.status, verdict.evidence["judged_by"]) == (Status.PASSED, "OS threads")


def test_growth_is_believed_only_after_the_default_was_counted_again() -> None:
    decoder = Healthy(H264)

    def decode(request: DecodeRequest) -> Outcome:
        outcome = decoder.decode(request)
        missed = len(decoder.requests) <= 3
        return dataclasses.replace(
            outcome, census=dataclasses.replace(outcome.census, threads_peak=3 if missed else 5)
        )

    assert check(decoder, decode=decode).status is Status.PASSED
    assert sum(request.threads is None for request in decoder.requests) > 3


def test_other_av1_decoder_is_unsupported() -> None:
    decoder = Healthy(AV1)

    def decode(request: DecodeRequest) -> Outcome:
        outcome = decoder.decode(request)
        assert outcome.observed
        stream = dataclasses.replace(outcome.observed.streams[0], decoder="av1")
        return dataclasses.replace(outcome, observed=Observed(streams=(stream,)))

    verdict = check(decoder, decode=decode)
    assert (verdict.status, verdict.reason) == (
        Status.UNSUPPORTED,
        "AV1 is decoded by av1 here, not by libdav1d",
    )


@pytest.mark.parametrize(
    ("clip", "changes", "reason"),
    [
        (AV1, {"census": Census()}, "no OS thread was counted and no codec context seen (the decoder opened no file"),
        (H264, {"census": Census()}, "no OS thread was counted and no codec context seen (the decoder opened no file"),
        (
            AV1,
            {"census": Census(threads_before=2, threads_peak=4, thread_samples=9)},
            "no thread of libdav1d and no codec context was seen",
        ),
        (
            AV1,
            {"kind": OutcomeKind.ERROR, "count": 0, "frames": None, "error": error(ValueError, "bad file")},
            "no picture came (ValueError: bad file), so no pool was seen at work",
        ),
    ],
)
def test_what_cannot_be_seen_is_unsupported(clip: Any, changes: dict[str, Any], reason: str) -> None:
    decoder = Healthy(clip)
    verdict = check(decoder, decode=unobserved(decoder, **changes))
    assert verdict.status is Status.UNSUPPORTED
    assert reason in verdict.reason


def test_decoder_without_thread_setting_is_unsupported() -> None:
    decoder = Healthy(AV1)
    verdict = run(thread_cap, decoder.subject(decoder=dataclasses.replace(decoder.info, threads_by="")))
    assert verdict.status is Status.UNSUPPORTED
    assert verdict.reason.startswith("no thread count reaches this decoder")
