from __future__ import annotations

import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.decoders import pyav
from pytest_videodecode.decoders.base import LoadedDecoder
from pytest_videodecode.errors import DecoderSpecError
from pytest_videodecode.model import Clip, ClipSpec, DecodeRequest

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="counts threads and files in /proc")


def frames(request: DecodeRequest, decoder: LoadedDecoder | None = None) -> Iterator[NDArray[np.uint8]]:
    decoded = (decoder or pyav.make({})).decode(request)
    assert isinstance(decoded, Iterator)
    return decoded


def shown(clip: Clip, **asked: Any) -> list[int | None]:
    pictures = np.stack(list(frames(DecodeRequest(path=clip.path, **asked))))
    return clip.read(pictures, range(len(pictures)))


def thread_names() -> Counter[str]:
    names: Counter[str] = Counter()
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # gone since it was listed
            names[re.sub(r"\d+$", "", (task / "comm").read_text().strip())] += 1
    return names


def threads_beyond(before: Counter[str], expected: dict[str, int]) -> Counter[str]:
    """The threads that are there besides ``before``; a thread names itself, and leaves /proc, a little late."""
    deadline = time.monotonic() + 5
    while (beyond := thread_names() - before) != expected and time.monotonic() < deadline:
        time.sleep(0.005)
    return beyond


@pytest.fixture(params=["av1", "h264", "mpeg4"])
def clip(request: pytest.FixtureRequest, clip_cache: ClipCache) -> Clip:
    return clip_cache.clip(ClipSpec(codec=request.param))


def test_frames_are_those_asked_for(clip: Clip) -> None:
    asked = (0, 1, clip.frames - 1, 9, 9, 20)
    assert shown(clip, indices=asked) == list(asked)
    assert shown(clip, timestamps=tuple(float(clip.times[number]) for number in asked)) == list(asked)


@pytest.mark.parametrize("spec", ["container=ts", "container=mkv:bframes=2", "bframes=2:open_gop=true"])
def test_every_frame_has_its_own_time(clip_cache: ClipCache, spec: str) -> None:
    clip = clip_cache.clip(ClipSpec.parse(f"h264:{spec}"))
    assert shown(clip, timestamps=tuple(map(float, clip.times))) == list(range(clip.frames))


def test_frames_are_contiguous_rgb(clip: Clip) -> None:
    (picture,) = frames(DecodeRequest(path=clip.path, indices=(3,)))
    assert picture.shape == (clip.height, clip.width, 3)
    assert picture.dtype == np.uint8
    assert picture.flags.c_contiguous
    with av.open(clip.path) as container:
        *_, fourth = (frame for frame, _ in zip(container.decode(video=0), range(4), strict=False))
    np.testing.assert_array_equal(picture, fourth.to_ndarray(format="rgb24"))


@pytest.mark.parametrize("open_as", ["file", "unseekable"])
def test_files_and_readers_give_the_frames_of_the_path(clip: Clip, open_as: str) -> None:
    asked = (0, 30, 12)
    assert shown(clip, indices=asked, open_as=open_as) == list(asked)


@pytest.mark.parametrize("thread_type", pyav.THREAD_TYPES)
@pytest.mark.parametrize("threads", [0, 1, 4])
def test_no_thread_setting_changes_an_intact_clip(clip: Clip, threads: int, thread_type: str) -> None:
    last = clip.frames - 1
    assert shown(clip, indices=(0, 17, last), threads=threads, thread_type=thread_type) == [0, 17, last]


@on_linux
@pytest.mark.parametrize(
    ("codec", "asked", "expected"),
    [
        ("av1", {"threads": 3}, {"dav1d-worker": 3}),
        ("av1", {"threads": 1}, {}),
        ("h264", {"threads": 3, "thread_type": "FRAME"}, {"av:h264:df": 3}),
        ("h264", {"threads": 3, "thread_type": "NONE"}, {}),
        ("mpeg4", {"threads": 1}, {}),
    ],
)
def test_threads_are_those_asked_for_and_conversion_adds_none(
    clip_cache: ClipCache, codec: str, asked: dict[str, Any], expected: dict[str, int]
) -> None:
    clip = clip_cache.clip(ClipSpec(codec=codec))
    before = thread_names()
    decoding = frames(DecodeRequest(path=clip.path, indices=(0, 5, 30, 40), **asked))
    held = [next(decoding) for _ in range(3)]
    assert threads_beyond(before, expected) == expected
    decoding.close()  # type: ignore[attr-defined]
    assert not threads_beyond(before, {})
    assert len(held) == 3


@on_linux
def test_options_of_the_spec_reach_the_codec(clip_cache: ClipCache) -> None:
    clip = clip_cache.clip(ClipSpec(codec="h264"))
    before, expected = thread_names(), {"av:h264:df": 2}
    decoder = pyav.make({"thread_type": "frame"})
    decoding = frames(DecodeRequest(path=clip.path, indices=(0, 40), threads=2), decoder)
    next(decoding)
    assert threads_beyond(before, expected) == expected
    decoding.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("option", ["thread_type=FIBRE", "log_level=LOUD", "speed=fast"])
def test_options_that_do_not_exist_are_refused(option: str) -> None:
    name, value = option.split("=")
    with pytest.raises(DecoderSpecError, match=r"known are|it has threads, thread_cap, thread_type, log_level"):
        pyav.make({name: value})


def test_log_level_holds_until_the_file_is_closed(clip_cache: ClipCache) -> None:
    clip = clip_cache.clip(ClipSpec(codec="mpeg4"))
    before = av.logging.get_level()
    decoding = frames(DecodeRequest(path=clip.path, indices=(0, 5), threads=1, log_level="ERROR"))
    next(decoding)
    assert av.logging.get_level() == av.logging.ERROR
    assert len(list(decoding)) == 1
    assert av.logging.get_level() == before


@on_linux
def test_the_file_is_closed_however_a_decode_ends(clip: Clip) -> None:
    before = len(os.listdir("/proc/self/fd"))
    asked = DecodeRequest(path=clip.path, open_as="file", indices=(0, clip.frames))
    assert len(list(frames(replace(asked, stop_after=1)))) == 1
    decoding = frames(asked)
    next(decoding)
    assert len(os.listdir("/proc/self/fd")) > before
    with pytest.raises(IndexError, match=f"the file shows {clip.frames} frames"):
        next(decoding)
    assert len(os.listdir("/proc/self/fd")) == before


def test_frames_before_damage_come_before_its_error(clip_cache: ClipCache, tmp_path: Path) -> None:
    clip = clip_cache.clip(ClipSpec(codec="h264"))
    whole = Path(clip.path).read_bytes()
    cut = tmp_path / "cut.mp4"
    cut.write_bytes(whole[: len(whole) * 6 // 10])
    seen: list[NDArray[np.uint8]] = []
    decoding = frames(DecodeRequest(path=str(cut), indices=tuple(range(clip.frames))))
    with pytest.raises(av.FFmpegError):
        seen.extend(decoding)
    assert 0 < len(seen) < clip.frames
    assert clip.read(np.stack(seen), range(len(seen))) == list(range(len(seen)))


def test_what_pyav_raises_passes_through(tmp_path: Path) -> None:
    (tmp_path / "empty.mp4").touch()
    with pytest.raises(av.FFmpegError):
        next(frames(DecodeRequest(path=str(tmp_path / "empty.mp4"), indices=(0,))))
    with pytest.raises(FileNotFoundError):
        next(frames(DecodeRequest(path=str(tmp_path / "absent.mp4"), indices=(0,))))


def test_frames_of_another_size_are_scaled_to_the_first(real_clips: Path) -> None:
    path = real_clips / "av1-conformance-resize-midstream.ivf"
    with av.open(str(path)) as container:
        sizes = [(frame.height, frame.width, 3) for frame in container.decode(video=0)]
    decoded = list(frames(DecodeRequest(path=str(path), indices=tuple(range(len(sizes))))))
    assert len(set(sizes)) > 1
    assert {picture.shape for picture in decoded} == {sizes[0]}


def test_versions_name_pyav_and_the_ffmpeg_inside_it() -> None:
    versions = pyav.make({}).info.versions
    assert versions["av"] == av.__version__
    assert versions["numpy"] == np.__version__
    assert versions["libavcodec"] == ".".join(map(str, av.library_versions["libavcodec"]))
