from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
import pytest

from pytest_videodecode.model import Clip
from pytest_videodecode.production.decoder_cache import DecoderCache
from pytest_videodecode.production.errors import (
    DamagedVideoError,
    DecoderCacheError,
    FrameIndexError,
    VideoNotFoundError,
)
from pytest_videodecode.production.reading.open_clip import OpenClip
from pytest_videodecode.production.reading.video_source import VideoSource
from pytest_videodecode.production.video_io import decode_video_frames

Copies = Callable[[int], list[Path]]


@pytest.fixture
def copies(clip: Clip, tmp_path: Path) -> Copies:
    """So many files of the same video."""

    def make(count: int) -> list[Path]:
        paths = [tmp_path / f"{number}.mp4" for number in range(count)]
        for path in paths:
            path.write_bytes(Path(clip.path).read_bytes())
        return paths

    return make


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> list[OpenClip]:
    """The clips that were closed, in order."""
    seen: list[OpenClip] = []
    close = OpenClip.close

    def closing(clip: OpenClip) -> None:
        if clip._opened is not None:
            seen.append(clip)
        close(clip)

    monkeypatch.setattr(OpenClip, "close", closing)
    return seen


def ask(path: str | Path, cache: DecoderCache, *frames: int) -> None:
    decode_video_frames(path, frame_indices=frames or (3,), decoder_cache=cache)


def test_a_clip_asked_again_is_not_opened_again(clip: Clip, closed: list[OpenClip]) -> None:
    with DecoderCache() as cache:
        for asked in ([0, 9], [30], [31, 32], [47, 1], [47]):
            frames = decode_video_frames(clip.path, frame_indices=asked, decoder_cache=cache)
            assert clip.read(frames, asked) == asked
            times = [float(clip.times[number]) for number in asked]
            np.testing.assert_array_equal(decode_video_frames(clip.path, times, decoder_cache=cache), frames)
        statistics = cache.statistics
        assert (statistics.hits, statistics.misses, statistics.evictions, statistics.size) == (9, 1, 0, 1)
        assert statistics.hit_rate == pytest.approx(0.9)
        assert statistics.max_size == 16
        assert not closed
    assert len(closed) == 1
    assert len(cache) == 0


def test_the_least_recently_used_clip_is_closed_first(copies: Copies, closed: list[OpenClip]) -> None:
    a, b, c, d = copies(4)
    cache = DecoderCache(max_size=3)
    for path in (a, b, c, a, d):
        ask(path, cache)
    assert len(closed) == 1
    for path in (a, c, d):
        ask(path, cache)
    assert (cache.statistics.hits, cache.statistics.misses, cache.statistics.evictions) == (4, 4, 1)
    ask(b, cache)
    assert cache.statistics.misses == 5
    assert len(cache) == 3


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts files and threads in /proc")
def test_files_and_threads_are_those_of_the_clips_that_may_be_open(copies: Copies) -> None:
    paths = copies(12)

    def held() -> tuple[int, int]:
        return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))

    before = held()
    cache = DecoderCache(max_size=3)
    for path in paths[:3]:
        ask(path, cache)
    full = held()
    assert full[0] == before[0] + 3
    for path in paths[3:]:
        ask(path, cache)
        assert held()[0] == full[0]
    assert _soon(lambda: held()[1] <= full[1])
    cache.clear()
    assert _soon(lambda: held() == before)
    ask(paths[0], cache)
    assert len(cache) == 1


def _soon(holds: Callable[[], bool]) -> bool:
    """Whether it comes to hold: a joined thread stays in the list for a moment."""
    for _ in range(100_000):
        if holds():
            return True
        os.sched_yield()
    return False


@pytest.mark.parametrize("change", ["replaced", "grown", "touched"])
def test_a_file_that_is_another_one_now_is_opened_anew(copies: Copies, clip: Clip, change: str) -> None:
    path, other = copies(2)
    with DecoderCache() as cache:
        ask(path, cache)
        if change == "replaced":
            other.replace(path)
        elif change == "grown":
            with path.open("ab") as file:
                file.write(bytes(100))
        else:
            os.utime(path, ns=(1, 1))
        assert clip.read(decode_video_frames(path, frame_indices=[9], decoder_cache=cache), [9]) == [9]
        assert (cache.statistics.misses, len(cache)) == (2, 1)


def test_a_file_that_was_cut_is_an_error_and_not_a_frame_of_the_past(copies: Copies) -> None:
    (path,) = copies(1)
    with DecoderCache() as cache:
        ask(path, cache, 47)
        os.truncate(path, path.stat().st_size // 2)
        with pytest.raises((DamagedVideoError, FrameIndexError)):  # MPEG-4 just ends
            ask(path, cache, 47)
        path.unlink()
        with pytest.raises(VideoNotFoundError):
            ask(path, cache, 47)
        assert len(cache) == 0


def test_what_fails_to_open_or_to_decode_leaves_nothing(
    copies: Copies, closed: list[OpenClip], tmp_path: Path
) -> None:
    (path,) = copies(1)
    (tmp_path / "text.mp4").write_text("no video in here\n" * 100)
    with DecoderCache() as cache:
        with pytest.raises(av.InvalidDataError):
            ask(tmp_path / "text.mp4", cache)
        with pytest.raises(FrameIndexError):
            ask(path, cache, 48)
        assert len(cache) == 0
        assert len(closed) >= 1
        assert cache.statistics.evictions == 0
        ask(path, cache)


def test_file_objects_are_not_kept(clip: Clip) -> None:
    with DecoderCache() as cache, open(clip.path, "rb") as file:
        assert clip.read(decode_video_frames(file, frame_indices=[9], decoder_cache=cache), [9]) == [9]
        assert cache.statistics.misses == len(cache) == 0


def test_another_thread_count_is_another_pool_and_the_old_one_goes(av1: Clip, h264: Clip) -> None:
    with DecoderCache() as cache:
        for threads in (1, 1, 4, 4):
            decode_video_frames(av1.path, frame_indices=[9], decoder_cache=cache, threads=threads)
        assert (cache.statistics.hits, cache.statistics.misses, len(cache)) == (2, 2, 1)
        for threads in (1, 4):
            decode_video_frames(h264.path, frame_indices=[9], decoder_cache=cache, threads=threads)
        assert (cache.statistics.hits, cache.statistics.misses, len(cache)) == (3, 3, 2)


def test_a_lent_clip_is_neither_shared_nor_evicted(copies: Copies) -> None:
    a, b = copies(2)
    cache = DecoderCache(max_size=1)
    source = VideoSource(a)
    with cache.lend(source, 1, "cpu") as first:
        with cache.lend(source, 1, "cpu") as second, cache.lend(VideoSource(b), 1, "cpu") as third:
            assert len({id(first), id(second), id(third)}) == 3
            assert len(cache) == 3
        assert len(cache) == 1
        assert first.facts is not None
    with cache.lend(source, 1, "cpu") as again:
        assert again is first
    assert len(cache) == 1


def test_threads_share_a_cache_and_get_the_right_frames(copies: Copies, clip: Clip) -> None:
    paths = copies(4)
    cache = DecoderCache(max_size=2)
    wrong: list[object] = []

    def work(seed: int) -> None:
        random = np.random.default_rng(seed)
        for _ in range(12):
            asked = sorted(int(number) for number in random.choice(clip.frames, 3, replace=False))
            try:
                path = paths[random.integers(len(paths))]
                frames = decode_video_frames(path, frame_indices=asked, decoder_cache=cache, threads=1)
                if clip.read(frames, asked) != asked:
                    wrong.append(asked)
            except Exception as error:
                wrong.append(error)

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong
    assert len(cache) <= 2
    assert cache.statistics.hits + cache.statistics.misses == 48


def test_a_closed_cache_serves_no_request(clip: Clip) -> None:
    cache = DecoderCache()
    with cache.lend(VideoSource(clip.path), 1, "cpu"):
        cache.close()
    assert len(cache) == 0
    with pytest.raises(DecoderCacheError, match="closed; make a new one"):
        ask(clip.path, cache)


@pytest.mark.parametrize("size", [0, -1, 1.5, "16", True])
def test_a_size_that_is_none_is_an_error(size: object) -> None:
    with pytest.raises(DecoderCacheError, match="whole number, 1 or more"):
        DecoderCache(size)  # type: ignore[arg-type]


def test_a_pickled_cache_arrives_empty(clip: Clip) -> None:
    with DecoderCache(max_size=5) as cache:
        ask(clip.path, cache)
        again = pickle.loads(pickle.dumps(cache))
    assert (len(again), again.statistics.max_size, again.statistics.misses) == (0, 5, 0)
    ask(clip.path, again)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.parametrize("drops", [False, True], ids=["uses it", "drops it"])
def test_a_forked_child_starts_with_an_empty_cache_and_ends(clip: Clip, drops: bool) -> None:
    cache = DecoderCache()
    expected = decode_video_frames(clip.path, frame_indices=[5, 30], decoder_cache=cache, threads=4)
    child = os.fork()
    if not child:
        fault = 1
        try:
            if drops:
                del cache  # freeing what was inherited would wait for threads that are not there
                fault = 0
            else:
                frames = decode_video_frames(clip.path, frame_indices=[5, 30], decoder_cache=cache, threads=4)
                statistics = cache.statistics
                cache.close()
                fault = not (np.array_equal(frames, expected) and (statistics.misses, statistics.size) == (1, 1))
        finally:
            os._exit(fault)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert cache.statistics.misses == 1
    np.testing.assert_array_equal(
        decode_video_frames(clip.path, frame_indices=[5, 30], decoder_cache=cache, threads=4), expected
    )
    assert cache.statistics.hits == 1
