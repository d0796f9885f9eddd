from __future__ import annotations

import av
import pytest

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.isolation.observe import Observer, counting_decodes, observing
from pytest_videodecode.model import ClipSpec, DecodeRequest


@pytest.fixture(scope="module")
def path(clip_cache: ClipCache) -> str:
    return clip_cache.clip(ClipSpec(codec="h264")).path


def test_nothing_is_patched_unless_asked(path: str) -> None:
    before = av.open, av.container.InputContainer.seek
    with observing(DecodeRequest(path=path, indices=(0,))) as observer:
        assert observer is None
        assert (av.open, av.container.InputContainer.seek) == before


def test_patches_end_with_the_request(path: str) -> None:
    before = av.open, av.container.InputContainer.seek
    with observing(DecodeRequest(path=path, indices=(0,), observe=True)):
        assert av.open is not before[0]
    assert (av.open, av.container.InputContainer.seek) == before


def test_planted_seek_fails_as_ffmpeg_does_and_is_counted(path: str) -> None:
    with observing(DecodeRequest(path=path, indices=(0,), faults=("seek",))) as observer:
        assert observer is not None
        with av.open(path) as container, pytest.raises(av.FFmpegError):
            container.seek(0)
        seen = observer.result()
    assert (seen.seeks, seen.failed_seeks, seen.reason) == (1, 1, "")


def test_streams_are_seen_as_opened_and_as_left(path: str) -> None:
    with observing(DecodeRequest(path=path, indices=(0,), observe=True)) as observer:
        assert observer is not None
        with av.open(path) as container:
            stream = container.streams.video[0]
            stream.thread_count = 3
            stream.thread_type = "FRAME"
            next(container.decode(stream))
            container.seek(0)
        [seen] = observer.result().streams
    assert (seen.codec, seen.decoder) == ("h264", "h264")
    assert (seen.opened_thread_count, seen.thread_count) == (0, 3)
    assert (seen.opened_thread_type, seen.thread_type) == ("SLICE", "FRAME")
    assert observer.seeks == 1
    assert observer.failed_seeks == 0


def test_no_container_is_said_not_guessed(path: str) -> None:
    with observing(DecodeRequest(path=path, indices=(0,), observe=True)) as observer:
        assert observer is not None
        assert "opened no file" in observer.result().reason


def test_stand_in_seeks_through_the_observer_where_the_class_cannot_be_changed(path: str) -> None:
    observer = Observer(fail_seeks=True)
    with observer.wrap_open(av.open, av.error.PermissionError, stand_in=True)(path) as container:
        with pytest.raises(av.FFmpegError):
            container.seek(0)
        assert len(list(container.decode(container.streams.video[0]))) == 48
    assert (observer.seeks, observer.failed_seeks) == (1, 1)


def test_frames_are_counted_whichever_way_they_are_decoded(path: str) -> None:
    with counting_decodes() as count, av.open(path) as container:
        assert sum(1 for _ in container.decode(video=0)) == 48
    assert count.frames == 48
    with counting_decodes() as count, av.open(path) as container:
        assert sum(len(packet.decode()) for packet in container.demux(video=0)) == 48
    assert count.frames == 48


def test_frames_of_another_library_are_not_counted_as_none(path: str) -> None:
    with counting_decodes() as count:
        pass
    assert count.frames is None


def test_threads_of_a_pool_are_counted_while_it_is_there(path: str) -> None:
    with counting_decodes() as count, av.open(path) as container:
        stream = container.streams.video[0]
        stream.thread_type, stream.thread_count = "FRAME", 11
        next(container.decode(stream))
    assert count.threads_peak >= 11


def test_counting_leaves_nothing_behind() -> None:
    before = av.video.codeccontext.VideoCodecContext.decode
    with counting_decodes():
        assert av.video.codeccontext.VideoCodecContext.decode is not before
    assert av.video.codeccontext.VideoCodecContext.decode is before
