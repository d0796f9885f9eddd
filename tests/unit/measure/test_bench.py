from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import seated

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.errors import DecoderSpecError, MeasurementError, WorkerError
from pytest_videodecode.measure.bench import Bench
from pytest_videodecode.options import Settings

PRODUCTION = (
    "production,threads=160",
    "production,threads=1",
    f"production@{sys.executable}",
    "production,threads=1",
    "seated:by_time",
)


@pytest.fixture(scope="module")
def others() -> set[int]:
    return workers()


@pytest.fixture(scope="module")
def bench(clip_cache: ClipCache, others: set[int]) -> Iterator[Bench]:
    with Bench(PRODUCTION, "av1", 2, Settings(), cache=clip_cache, shape=seated.SMALL) as bench:
        yield bench


def workers() -> set[int]:
    return {child.pid for child in psutil.Process().children() if child.status() != psutil.STATUS_ZOMBIE}


def test_round_is_the_sum_of_all_seats(bench: Bench) -> None:
    measured = bench.round("production,threads=1", 60, samples=3)
    assert (measured.processes, measured.samples, measured.lost) == (2, 6, ())
    assert (measured.decoder, measured.codec) == ("production,threads=1", "av1")
    assert measured.frames_per_s == pytest.approx(6 * measured.samples_per_s)
    assert measured.sample == "2 x 3 of 9 frames, 160x96, 30 fps, GOP 4"
    assert measured.decoded_per_sample is not None
    assert measured.decoded_per_sample >= 6
    assert measured.identical
    assert "av" in measured.versions
    assert measured.cpu_per_sample_s > 0


def test_rounds_start_no_process(bench: Bench) -> None:
    before = workers()
    for decoder in ("production,threads=160", "production,threads=1", "production,threads=1"):
        bench.round(decoder, 0.05)
    assert workers() == before


def test_thread_count_of_the_spec_reaches_the_pool(bench: Bench) -> None:
    """The host of 160 cores, imitated."""
    many, one = (bench.round(spec, 0.5) for spec in ("production,threads=160", "production,threads=1"))
    assert many.threads_peak >= one.threads_peak + 2 * 159
    assert many.identical
    assert one.identical


def test_other_interpreter_takes_its_seats(bench: Bench) -> None:
    assert bench.round(f"production@{sys.executable}", 60, samples=1).samples == 2


def test_decoder_by_timestamp_only_decodes_the_same_samples(bench: Bench) -> None:
    by_time, by_index = (bench.seats(decoder, 60, samples=1) for decoder in ("seated:by_time", 1))
    assert [seat.digests for seat in by_time] == [seat.digests for seat in by_index]


def test_decoder_named_twice_has_seats_of_its_own(bench: Bench, others: set[int]) -> None:
    assert bench.round(1, 60, samples=1).samples == bench.round(3, 60, samples=1).samples == 2
    assert len(workers() - others) == 2 * len(PRODUCTION)


def test_split_is_of_one_stream_alone(bench: Bench) -> None:
    before = workers()
    split = bench.split("production,threads=1")
    assert min(split.open_s, split.first_frame_s, split.steady_s) > 0
    assert workers() == before


def test_all_workers_end_with_the_bench(clip_cache: ClipCache) -> None:
    before = workers()
    with Bench(["production"], "mpeg4", 2, Settings(), cache=clip_cache, shape=seated.SMALL):
        assert len(workers() - before) == 2
    assert workers() == before


@pytest.mark.parametrize(
    ("decoder", "processes", "kind", "message"),
    [
        ("production", 0, MeasurementError, "0 seats for 1 decoders; give one of each at least"),
        ("production", 10**6, MeasurementError, "seat fewer"),
        ("nobody", 2, DecoderSpecError, "'nobody' is unknown"),
        ("production@/no/such/python", 2, WorkerError, "cannot start /no/such/python"),
        ("seated:off_by_one", 2, MeasurementError, r"seated:off_by_one is not measured on .*: asked frame \d+, got"),
        ("rogue:crashes", 2, MeasurementError, r"rogue:crashes is not measured on .*crash \(SIGSEGV\)"),
    ],
)
def test_what_cannot_be_measured_is_one_line_and_leaves_nothing(
    clip_cache: ClipCache, decoder: str, processes: int, kind: type[Exception], message: str
) -> None:
    before = workers()
    with pytest.raises(kind, match=message) as caught:
        Bench([decoder], "mpeg4", processes, Settings(), cache=clip_cache, shape=seated.SMALL)
    assert "\n" not in str(caught.value)
    assert workers() == before


def test_seat_that_dies_is_named_and_has_a_new_worker_next_time(
    clip_cache: ClipCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(seated.FOLDER_ENV, str(tmp_path))
    with Bench(["seated:one_process_dies"], "mpeg4", 2, Settings(), cache=clip_cache, shape=seated.SMALL) as bench:
        first = bench.round(0, 60, samples=8)
        second = bench.round(0, 60, samples=8)
    [lost] = first.lost
    assert lost in {"seat 0: crash (SIGKILL)", "seat 1: crash (SIGKILL)"}
    assert (first.samples, second.samples, second.lost) == (8, 16, ())
    assert first.identical


def test_seat_that_hangs_is_named_and_the_other_reported(
    clip_cache: ClipCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(seated.FOLDER_ENV, str(tmp_path))
    settings = Settings(timeout=1.5)
    with Bench(["seated:one_process_hangs"], "mpeg4", 2, settings, cache=clip_cache, shape=seated.SMALL) as bench:
        measured = bench.round(0, 60, samples=8)
    [lost] = measured.lost
    assert "hang" in lost
    assert measured.samples == 8


def test_round_without_any_seat_left_is_one_line(clip_cache: ClipCache) -> None:
    with (
        Bench(["seated:all_raise"], "mpeg4", 2, Settings(), cache=clip_cache, shape=seated.SMALL) as bench,
        pytest.raises(MeasurementError, match="no seat decoded a sample; seat 0: RuntimeError: no more of this"),
    ):
        bench.round(0, 60, samples=8)
