"""A clip that is open: its container, the decoder of its video stream, and what is known of it so far."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from av.container import InputContainer
from av.video.reformatter import VideoReformatter
from av.video.stream import VideoStream

from pytest_videodecode.production.reading.clip_reader import ClipReader
from pytest_videodecode.production.reading.frame_table import FrameTable, read_frame_table
from pytest_videodecode.production.reading.passage import Put
from pytest_videodecode.production.reading.stream_facts import Misfit, StreamFacts
from pytest_videodecode.production.reading.targets import Target

#: The one decoder whose thread count is set; its pool is as large as the host if it is not.
POOLED_CODEC = "libdav1d"


@dataclass(frozen=True)
class Opened:
    """A container, its video stream, and the file object that was opened for it, if one was."""

    container: InputContainer
    stream: VideoStream
    file: Any = None

    def close(self) -> None:
        """Closes what was opened."""
        self.container.close()
        if self.file is not None:
            self.file.close()


class OpenClip:
    """One open clip, for one thread at a time.

    ``open_anew`` opens it, now and whenever it must be read from its start again. ``facts`` says how frames are found
    by seeking: None of a stream whose packets are no sure guide to its frames, or where ``seekable`` is False.
    """

    def __init__(self, open_anew: Callable[[], Opened], seekable: bool) -> None:
        self._pid = os.getpid()
        self._open_anew = open_anew
        self._seekable = seekable
        self._table: FrameTable | None = None
        self._opened: Opened | None = None
        self._reader: ClipReader | None = None
        self.reformatter = VideoReformatter()
        self._open()

    def _open(self) -> None:
        self._opened = opened = self._open_anew()
        self._fresh = True
        self.facts = StreamFacts.of(opened.container, opened.stream) if self._seekable else None
        self._reader = ClipReader(opened.container, opened.stream, self.facts) if self.facts else None

    @property
    def has_pool(self) -> bool:
        """Whether its decoder is one whose thread count is set here."""
        return self._opened is not None and self._opened.stream.codec_context.name == POOLED_CODEC

    @property
    def reads_ahead(self) -> bool:
        """Whether a frame may come only when the decoder has been given packets behind it."""
        return self.has_pool and self._opened is not None and self._opened.stream.codec_context.thread_count != 1

    def read(self, targets: Sequence[Target], put: Put) -> None:
        """See ``ClipReader.read``; to be asked of clips that have ``facts``."""
        self._fresh = False
        if self._reader is None:
            raise Misfit
        self._reader.read(targets, put)

    def from_start(self) -> tuple[InputContainer, VideoStream]:
        """Container and stream with nothing read of them; opened anew where something was."""
        if not self._fresh or self._opened is None:
            self.close()
            self._open()
        self._fresh = False
        assert self._opened is not None
        return self._opened.container, self._opened.stream

    def table(self) -> FrameTable | None:
        """All frames of the stream, read once and kept; see ``read_frame_table``."""
        if self._table is None:
            self._table = read_frame_table(*self.from_start())
        return self._table

    def give_up_seeking(self) -> None:
        """From now on there are no ``facts``: what they led to was not to be trusted."""
        self.facts, self._reader, self._seekable = None, None, False

    def close(self) -> None:
        """Ends the decoder's threads and closes the file."""
        opened, self._opened, self._reader = self._opened, None, None
        if opened is None:
            return
        if self._pid == os.getpid():
            opened.close()
        else:
            # Freeing a decoder joins its threads, which a fork does not copy. So it is never freed here.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(opened))

    def __del__(self) -> None:
        self.close()
