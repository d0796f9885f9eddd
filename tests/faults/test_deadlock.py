"""The deadlock of PyAV's log callback with FFmpeg's frame threads, found in a reader that has it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_videodecode.model import ClipSpec, Status
from pytest_videodecode.options import Settings
from pytest_videodecode.session import Session

READER = """
import av
import av.logging
import numpy as np

av.logging.set_level(av.logging.ERROR)


def decode_video_frames(video_path, frame_indices):
    wanted, last, found = set(frame_indices), max(frame_indices), {}
    with av.open(str(video_path)) as container:
        stream = container.streams.video[0]
        stream.thread_type = THREAD_TYPE
        stream.codec_context.thread_count = 8
        for number, frame in enumerate(container.decode(stream)):
            if number in wanted:
                found[number] = frame.to_ndarray(format="rgb24")
            if number == last:
                break
    return np.stack([found[number] for number in frame_indices])
"""


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.syspath_prepend(tmp_path)
    with Session(Settings(timeout=3.0), tmp_path) as session:
        yield session


def reader(folder: Path, thread_type: str) -> str:
    name = f"reader_with_{thread_type.lower()}_threads"
    (folder / f"{name}.py").write_text(READER.replace("THREAD_TYPE", repr(thread_type)))
    return f"{name}:decode_video_frames"


def test_frame_threads_under_a_log_level_are_found_hanging(session: Session, tmp_path: Path) -> None:
    verdict = session.check("early_exit", reader(tmp_path, "FRAME"), ClipSpec(codec="h264"))
    assert verdict.status is Status.FAILED
    assert "got hang in " in verdict.reason
    assert "GIL held" in verdict.reason


def test_slice_threads_under_a_log_level_are_not(session: Session, tmp_path: Path) -> None:
    verdict = session.check("early_exit", reader(tmp_path, "SLICE"), ClipSpec(codec="h264"))
    assert (verdict.status, verdict.reason) == (Status.PASSED, "")
