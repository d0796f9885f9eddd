"""Peers from other packages, each imported when it is asked for."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from benchmarks.decode.cells import Request
from benchmarks.decode.peer import Frames, Function, Kept, Missing, NoFfmpeg, Peer


def torchcodec(threads: int, cached: bool, trial: Sequence[Request]) -> Peer:
    """torchcodec in its faster seek mode, with one decoder per file or one per call."""
    try:
        from torchcodec.decoders import VideoDecoder
    except ImportError:
        raise Missing("torchcodec is not installed (pip install torch torchcodec)") from None
    except (RuntimeError, OSError) as error:
        raise NoFfmpeg(f"torchcodec cannot load FFmpeg ({str(error).split('. ')[0]}); install its libraries") from None

    def ask(decoder: Any, indices: Sequence[int]) -> Frames:
        frames: Frames = decoder.get_frames_at(list(indices)).data.numpy()
        return frames

    def with_mode(mode: Literal["exact", "approximate"]) -> Peer:
        def open_(path: str) -> Any:
            return VideoDecoder(path, dimension_order="NHWC", num_ffmpeg_threads=threads, seek_mode=mode)

        note = f"seek_mode={mode}, the faster one here; num_ffmpeg_threads={threads} for every codec"
        return Kept(open_, ask, note) if cached else Function(lambda path, i: ask(open_(path), i), note)

    return _faster([with_mode("exact"), with_mode("approximate")], trial)


def _faster(candidates: Sequence[Peer], trial: Sequence[Request]) -> Peer:
    """The one that takes least time for ``trial``, its first request aside; the others are closed."""
    spent = dict.fromkeys(range(len(candidates)), 0.0)
    for i, request in enumerate(trial):
        for number, peer in enumerate(candidates):
            start = time.perf_counter()
            for path, indices in request:
                peer.decode(path, indices)
            spent[number] += (time.perf_counter() - start) * (i > 0)
    best = min(spent, key=lambda number: spent[number])
    for number, peer in enumerate(candidates):
        if number != best:
            peer.close()
    return candidates[best]


def decord2(threads: int) -> Peer:
    """decord's reader, one per file."""
    try:
        import decord
    except ImportError:
        raise Missing("decord is not installed (pip install decord2)") from None
    return Kept(
        lambda path: decord.VideoReader(path, ctx=decord.cpu(0), num_threads=threads),
        lambda reader, indices: reader.get_batch(list(indices)).asnumpy(),
        f"num_threads={threads} for every codec",
    )


def opencv(threads: int) -> Peer:
    """OpenCV's capture, one per file, set to each frame that is not the next one."""
    os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")  # it prints a line for each frame that it cannot decode
    try:
        import cv2
    except ImportError:
        raise Missing("OpenCV is not installed (pip install opencv-python-headless)") from None

    def ask(capture: Any, indices: Sequence[int]) -> Frames:
        frames = []
        for index in indices:
            if capture.get(cv2.CAP_PROP_POS_FRAMES) != index:
                capture.set(cv2.CAP_PROP_POS_FRAMES, index)
            read, frame = capture.read()
            if not read:
                raise Missing("OpenCV opens the clip and returns no frame (its build has no decoder for the codec)")
            frames.append(cv2.cvtColor(frame, cv2.COLOR_BGR2RGB))
        return np.stack(frames)

    return Kept(
        lambda path: cv2.VideoCapture(path, cv2.CAP_FFMPEG, [cv2.CAP_PROP_N_THREADS, threads]),
        ask,
        f"CAP_PROP_N_THREADS={threads} for every codec",
    )
