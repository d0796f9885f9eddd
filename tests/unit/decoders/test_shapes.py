from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av.logging
import numpy as np
import pytest

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.decoders.base import LoadedDecoder, UnseekableReader
from pytest_videodecode.decoders.shapes import adapt
from pytest_videodecode.errors import DecoderContractError, DecoderSpecError, Unsupported
from pytest_videodecode.model import ClipSpec, DecodeRequest

BATCH = np.zeros((1, 2, 2, 3), np.uint8)


class Spy:
    """Remembers the arguments of its last call."""

    def __init__(self) -> None:
        self.seen: dict[str, Any] = {}

    def __call__(self, **arguments: Any) -> Any:
        self.seen = arguments
        return BATCH


@pytest.fixture
def spy() -> Spy:
    return Spy()


def ask(function: Callable[..., Any], options: dict[str, str] | None = None, **asked: Any) -> LoadedDecoder:
    decoder = adapt(function, "mylab:decode", options or {})
    decoder.decode(DecodeRequest(path="clip.mp4", **asked))
    return decoder


def test_lerobot_shape_is_asked_by_timestamps(spy: Spy) -> None:
    def decode_video_frames(
        video_path: Path | str,
        timestamps: list[float],
        tolerance_s: float,
        backend: str | None = None,
        return_uint8: bool = False,
    ) -> Any:
        return spy(**locals())

    info = ask(decode_video_frames, timestamps=(0.1, 0.0), tolerance_s=0.02).info
    assert info.asks == ("timestamps",)
    assert not info.threads_by
    expected = {"video_path": "clip.mp4", "timestamps": [0.1, 0.0], "tolerance_s": 0.02}
    assert spy.seen.items() >= {**expected, "backend": None, "return_uint8": False}.items()
    with pytest.raises(Unsupported, match="mylab:decode is not asked by indices, only by timestamps"):
        ask(decode_video_frames, indices=(0,))


def test_openwam_shape_is_told_the_size_of_the_clip(spy: Spy, clip_cache: ClipCache) -> None:
    def decode_video_frames(video_path: str, frame_indices: list[int], height: int, width: int) -> Any:
        return spy(**locals())

    clip = clip_cache.clip(ClipSpec(codec="h264", width=224, height=160, frames=8))
    decoder = adapt(decode_video_frames, "mylab:decode", {})
    decoder.decode(DecodeRequest(path=clip.path, indices=(3, 1)))
    assert decoder.info.asks == ("indices",)
    assert decoder.info.resizes
    seen = {name: spy.seen[name] for name in ("video_path", "frame_indices", "height", "width")}
    assert seen == {"video_path": clip.path, "frame_indices": [3, 1], "height": 160, "width": 224}


def test_size_with_none_for_default_is_left_alone(spy: Spy) -> None:
    def decode(path: str, indices: list[int], height: int | None = None, width: int | None = None) -> Any:
        return spy(**locals())

    assert not ask(decode, indices=(0,)).info.resizes
    assert spy.seen["height"] is spy.seen["width"] is None


def test_function_that_takes_both_is_asked_either_way(spy: Spy) -> None:
    def decode_video_frames(
        video_path: str, timestamps: Any = None, tolerance_s: float = 1e-4, *, frame_indices: Any = ()
    ) -> Any:
        return spy(**locals())

    assert ask(decode_video_frames, timestamps=(0.5,)).info.asks == ("indices", "timestamps")
    assert (spy.seen["timestamps"], spy.seen["frame_indices"]) == ([0.5], ())
    ask(decode_video_frames, indices=(5,))
    assert (spy.seen["timestamps"], spy.seen["frame_indices"]) == (None, [5])


def test_of_two_required_ways_to_ask_the_other_gets_none(spy: Spy) -> None:
    def decode(path: str, indices: Any, timestamps: Any) -> Any:
        return spy(**locals())

    ask(decode, timestamps=(0.5,))
    assert (spy.seen["indices"], spy.seen["timestamps"]) == (None, [0.5])


@pytest.mark.parametrize("path", ["video_path", "path", "filename", "file", "video", "uri"])
@pytest.mark.parametrize("frames", ["indices", "frame_indices", "frame_ids", "frames"])
def test_names_of_path_and_indices_are_recognised(path: str, frames: str, spy: Spy) -> None:
    scope: dict[str, Any] = {"spy": spy}
    exec(f"def decode({path}, {frames}): return spy({path}={path}, {frames}={frames})", scope)
    ask(scope["decode"], indices=(1, 2))
    assert spy.seen == {path: "clip.mp4", frames: [1, 2]}


@pytest.mark.parametrize("times", ["timestamps", "timestamps_s", "times"])
@pytest.mark.parametrize("tolerance", ["tolerance_s", "tolerance"])
def test_names_of_timestamps_and_tolerance_are_recognised(times: str, tolerance: str, spy: Spy) -> None:
    scope: dict[str, Any] = {"spy": spy}
    exec(f"def decode(path, {times}, {tolerance}): return spy(path=path, at={times}, within={tolerance})", scope)
    ask(scope["decode"], timestamps=(1.5,), tolerance_s=0.25)
    assert spy.seen == {"path": "clip.mp4", "at": [1.5], "within": 0.25}


def test_positional_only_parameters_are_served(spy: Spy) -> None:
    def decode(path: str, indices: list[int], /, *more: str, tolerance: float = 1.0) -> Any:
        return spy(**locals())

    ask(decode, indices=(4,))
    assert (spy.seen["path"], spy.seen["indices"], spy.seen["more"]) == ("clip.mp4", [4], ())


@pytest.mark.parametrize("name", ["threads", "num_threads", "thread_count", "num_ffmpeg_threads", "n_threads"])
def test_thread_count_reaches_a_parameter_of_a_known_name(name: str, spy: Spy) -> None:
    scope: dict[str, Any] = {"spy": spy}
    exec(f"def decode(path, indices, {name}=7): return spy(threads={name})", scope)
    assert ask(scope["decode"], indices=(0,)).info.threads_by == f"parameter {name}"
    assert spy.seen == {"threads": 7}
    ask(scope["decode"], indices=(0,), threads=0)
    assert spy.seen == {"threads": 0}
    ask(scope["decode"], {name: "3"}, indices=(0,))
    assert spy.seen == {"threads": 3}
    ask(scope["decode"], {name: "3"}, indices=(0,), threads=1)
    assert spy.seen == {"threads": 1}


@pytest.mark.parametrize("before", [None, "9"])
@pytest.mark.parametrize("threads", [None, 0, 4])
def test_thread_count_reaches_an_environment_variable_and_leaves_no_trace(
    before: str | None, threads: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str | None] = []

    def decode(path: str, indices: list[int]) -> Any:
        seen.append(os.environ.get("MYLAB_THREADS"))
        raise KeyError

    if before is None:
        monkeypatch.delenv("MYLAB_THREADS", raising=False)
    else:
        monkeypatch.setenv("MYLAB_THREADS", before)
    with pytest.raises(KeyError):
        ask(decode, {"threads_env": "MYLAB_THREADS"}, indices=(0,), threads=threads)
    assert seen == [None if threads is None else str(threads)]
    assert os.environ.get("MYLAB_THREADS") == before


def test_a_variable_named_in_the_spec_goes_before_a_parameter(spy: Spy) -> None:
    def decode(path: str, indices: list[int], threads: int = 7) -> Any:
        return spy(threads=threads, variable=os.environ.get("MYLAB_THREADS"))

    decoder = ask(decode, {"threads_env": "MYLAB_THREADS"}, indices=(0,), threads=2)
    assert decoder.info.threads_by == "environment variable MYLAB_THREADS"
    assert spy.seen == {"threads": 7, "variable": "2"}


def test_options_become_arguments(spy: Spy) -> None:
    def decode(path: str, timestamps: list[float], backend: str, tolerance: float = 0.0, exact: bool = False) -> Any:
        return spy(**locals())

    ask(decode, {"backend": "pyav", "exact": "true", "tolerance": "0.5"}, timestamps=(0.0,))
    assert (spy.seen["backend"], spy.seen["exact"], spy.seen["tolerance"]) == ("pyav", True, 0.5)


def test_options_reach_keyword_catch_alls(spy: Spy) -> None:
    def decode(path: str, indices: list[int], **settings: Any) -> Any:
        return spy(settings=settings)

    ask(decode, {"backend": "pyav", "level": "2"}, indices=(0,))
    assert spy.seen == {"settings": {"backend": "pyav", "level": 2}}


def plain(path: str, indices: list[int], backend: str = "", exact: bool = False) -> Any:
    return BATCH


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bakend": "x"}, "mylab:decode has no parameter 'bakend' for that option; it takes backend, exact"),
        ({"path": "x"}, "mylab:decode: the option 'path' is set by every request; leave it out"),
        ({"indices": "3"}, "mylab:decode: the option 'indices' is set by every request; leave it out"),
        ({"threads_env": "A=B"}, "mylab:decode: threads_env=A=B does not name an environment variable"),
        ({"threads_env": ""}, "mylab:decode: threads_env= does not name an environment variable"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(DecoderSpecError) as caught:
        adapt(plain, "mylab:decode", options)
    assert str(caught.value) == message


def test_a_parameter_for_the_thread_count_takes_only_a_count() -> None:
    def decode(path: str, indices: list[int], num_threads: int) -> Any:
        return BATCH

    with pytest.raises(DecoderSpecError, match="option threads=many: not a count"):
        adapt(decode, "mylab:decode", {"num_threads": "many"})
    with pytest.raises(DecoderSpecError, match="num_threads would have no value"):
        adapt(decode, "mylab:decode", {})
    assert adapt(decode, "mylab:decode", {"threads": "2"}).info.threads_by == "parameter num_threads"


class Reader:
    def decode(self, path: str, indices: list[int]) -> Any:
        return BATCH


@pytest.mark.parametrize(
    ("function", "fault"),
    [
        (lambda clip, indices: BATCH, "its parameters are (clip, indices): none of them takes the path"),
        (lambda path, n: BATCH, "its parameters are (path, n): none of them takes frame indices or timestamps"),
        (lambda path, indices, fps: BATCH, "fps would have no value (give it as an option, name=value)"),
        (lambda path, indices, height: BATCH, "height would have no value"),
        (lambda *args, **kwargs: BATCH, "its parameters are (*args, **kwargs): none of them takes the path"),
        (lambda: BATCH, "its parameters are (): none of them takes the path"),
        (Reader.decode, "self would have no value"),
        (7, "it is an object of type int, not a function"),
        (dict.update, "Python cannot say what its parameters are"),
    ],
)
def test_other_shapes_are_refused_naming_what_was_found_and_what_is_known(function: Any, fault: str) -> None:
    with pytest.raises(DecoderSpecError) as caught:
        adapt(function, "mylab:decode", {})
    message = str(caught.value)
    assert message.startswith("mylab:decode has a shape that is not recognised")
    assert fault in message
    assert "(video_path, timestamps, tolerance_s, …) as LeRobot has it" in message
    assert "(video_path, frame_indices, height, width) as OpenWAM has it" in message
    assert "\n" not in message


def test_a_result_that_is_no_batch_of_frames_is_a_breach_of_contract() -> None:
    def decode(path: str, indices: list[int]) -> Any:
        yield BATCH[0]

    with pytest.raises(DecoderContractError, match="the decoder returned an object of type generator"):
        ask(decode, indices=(0,))


def test_what_the_function_raises_passes_through() -> None:
    def decode(path: str, indices: list[int]) -> Any:
        raise LookupError(indices[0])

    with pytest.raises(LookupError, match="3"):
        ask(decode, indices=(3,))


def test_a_function_that_may_be_given_files_gets_them(tmp_path: Path, spy: Spy) -> None:
    def decode(path: Any, indices: list[int]) -> Any:
        return spy(kind=type(path), start=path.read(2))

    path = tmp_path / "clip.mp4"
    path.write_bytes(b"ab")
    decoder = adapt(decode, "mylab:decode", {}, opens_as=("path", "unseekable"))
    decoder.decode(DecodeRequest(path=str(path), indices=(0,), open_as="unseekable"))
    assert spy.seen == {"kind": UnseekableReader, "start": b"ab"}


def test_log_level_is_set_around_the_call_where_pyav_is_loaded() -> None:
    seen: list[int | None] = []

    def decode(path: str, indices: list[int]) -> Any:
        seen.append(av.logging.get_level())
        return BATCH

    before = av.logging.get_level()
    assert ask(decode, indices=(0,), log_level="ERROR").info.log_levels
    assert seen == [av.logging.ERROR]
    assert av.logging.get_level() == before
