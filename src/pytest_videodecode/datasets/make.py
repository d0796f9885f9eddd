"""Make a synthetic LeRobot v3 data set: whole or not at all, and never over something that is there."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.clips.store import Store
from pytest_videodecode.datasets import video
from pytest_videodecode.datasets.spec import DatasetSpec, require_usable
from pytest_videodecode.datasets.tables import write_data, write_meta
from pytest_videodecode.datasets.truth import DatasetTruth
from pytest_videodecode.errors import ClipError, Unsupported


def make_dataset(
    folder: str | os.PathLike[str],
    *,
    cameras: Sequence[str] = ("front", "wrist"),
    episodes: int = 4,
    frames_per_episode: int | Sequence[int] = 20,
    fps: int = 20,
    codec: str = "av1",
    gop: int = 2,
    size: tuple[int, int] = (256, 256),
    quality: int | None = None,
    episodes_per_file: int = 2,
    data_files: int = 1,
    chunks_size: int = 1000,
    seed: int = 0,
    textured: bool = True,
    reuse: bool = True,
) -> DatasetTruth:
    """Write a data set that LeRobot loads into ``folder``, which must be new or empty; return the truth about it.

    ``frames_per_episode`` is one number or one for each episode; ``size`` is (width, height), 64x64 at least;
    ``quality`` is the codec's own scale (AV1: crf 30 if None, as LeRobot encodes). ``episodes_per_file`` bounds the
    episodes of one mp4, ``data_files`` is the number of data parquet files. ``reuse`` keeps each mp4 in the clip
    cache and takes it from there next time. ``textured=False`` is quicker to encode and to decode.

    Raises:
        ClipError: settings that cannot be, a folder that cannot be used, or an encoder that fails.
        Unsupported: PyAV has no encoder for ``codec``, or pyarrow is missing.
    """
    one_length = isinstance(frames_per_episode, int)
    lengths = (frames_per_episode,) * episodes if isinstance(frames_per_episode, int) else tuple(frames_per_episode)
    if not one_length and len(lengths) != episodes:
        raise ClipError(f"data set: {len(lengths)} lengths for {episodes} episodes; give one for each, or one number")
    spec = DatasetSpec(
        cameras=tuple(cameras),
        lengths=lengths,
        fps=fps,
        codec=codec,
        gop=gop,
        width=size[0],
        height=size[1],
        quality=quality,
        episodes_per_file=episodes_per_file,
        data_files=data_files,
        chunks_size=chunks_size,
        seed=seed,
        textured=textured,
    )
    write_dataset(spec, Path(folder), Store(ClipCache().root) if reuse else None)
    return DatasetTruth(str(folder), spec)


def write_dataset(spec: DatasetSpec, folder: Path, store: Store | None = None, *, meta_only: bool = False) -> None:
    """Write the data set of ``spec`` into ``folder``; the errors are those of ``make_dataset``.

    ``meta_only`` leaves out ``data/`` and ``videos/``, for readers of metadata alone.
    """
    require_usable(spec)
    _require_pyarrow()
    folder = folder.absolute()
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise ClipError(f"{folder}: is there already, and not an empty folder; give another one, or remove it")
        folder.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        try:
            write_meta(spec, scratch)
            if not meta_only:
                write_data(spec, scratch)
                _write_videos(spec, scratch, store)
            scratch.chmod(0o755)
            os.replace(scratch, folder)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    except OSError as error:
        raise ClipError(f"{folder}: cannot be written ({error.strerror or error}); give another folder") from None


def _write_videos(spec: DatasetSpec, folder: Path, store: Store | None) -> None:
    # Each encoder is a process of one thread, which a thread of this pool waits for.
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        jobs = [pool.submit(video.place, each, folder / path, store) for path, each in spec.videos()]
        try:
            for job in jobs:
                job.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _require_pyarrow() -> None:
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise Unsupported("data sets need pyarrow; install pytest-videodecode[streaming]") from None
