from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_videodecode.decoders.base import Frames, LoadedDecoder, open_source
from pytest_videodecode.errors import Unsupported
from pytest_videodecode.model import DecodeRequest, DecoderInfo

CAPABLE = DecoderInfo(
    name="capable",
    threads_by="parameter threads",
    thread_types=("SLICE",),
    opens_as=("path", "file", "unseekable"),
    log_levels=True,
    stops_early=True,
)


class Recorder:
    def __init__(self) -> None:
        self.asked: list[DecodeRequest] = []

    def __call__(self, request: DecodeRequest) -> Frames:
        self.asked.append(request)
        return np.empty((0, 0, 0, 3), np.uint8)


def request(**kwargs: Any) -> DecodeRequest:
    kwargs.setdefault("indices", (0,))
    return DecodeRequest(path="clip.mp4", **kwargs)


@pytest.mark.parametrize(
    ("asked", "fault"),
    [
        ({"indices": None, "timestamps": (0.0,)}, "plain is not asked by timestamps, only by indices"),
        ({"threads": 2}, "plain has no thread count that could be set"),
        ({"threads": 0}, "plain has no thread count that could be set"),
        ({"thread_type": "FRAME"}, "plain has no thread type FRAME; it knows none"),
        ({"log_level": "ERROR"}, "plain has no log level that could be set"),
        ({"stop_after": 0}, "plain cannot be left early"),
        ({"open_as": "file"}, "plain cannot be given a file as 'file', only as path"),
        ({"device": "cuda"}, "plain does not decode on cuda, only on cpu"),
    ],
)
def test_what_a_decoder_does_not_honour_is_refused_and_never_ignored(asked: dict[str, Any], fault: str) -> None:
    run = Recorder()
    plain = LoadedDecoder(info=DecoderInfo(name="plain", asks=("indices",)), run=run)
    with pytest.raises(Unsupported) as caught:
        plain.decode(request(**asked))
    assert str(caught.value) == fault
    assert not run.asked


def test_what_a_decoder_honours_reaches_it_as_it_is() -> None:
    run = Recorder()
    asked = request(threads=0, thread_type="SLICE", log_level="ERROR", stop_after=1, open_as="file", device="cuda:0")
    LoadedDecoder(info=CAPABLE, run=run, devices=("cpu", "cuda")).decode(asked)
    assert run.asked == [asked]


def test_defaults_of_the_spec_hold_where_the_request_asks_nothing() -> None:
    run = Recorder()
    decoder = LoadedDecoder(info=CAPABLE, run=run, defaults={"threads": 160, "thread_type": "SLICE"})
    decoder.decode(request())
    decoder.decode(request(threads=0))
    assert [(asked.threads, asked.thread_type) for asked in run.asked] == [(160, "SLICE"), (0, "SLICE")]


def test_sources_are_a_path_a_file_or_a_reader_without_seek(tmp_path: Path) -> None:
    path = tmp_path / "clip.mp4"
    path.write_bytes(b"0123456789")
    asked = {name: DecodeRequest(path=str(path), indices=(0,), open_as=name) for name in CAPABLE.opens_as}
    with open_source(asked["path"]) as source:
        assert source == str(path)
    with open_source(asked["file"]) as file:
        assert (file.seek(2), file.read(3), file.name) == (2, b"234", str(path))
    with open_source(asked["unseekable"]) as reader:
        assert not hasattr(reader, "seek")
        assert (reader.read(3), reader.read(), reader.name) == (b"012", b"3456789", str(path))
    with pytest.raises(ValueError, match="closed file"):
        reader.read(1)
    assert file.closed
