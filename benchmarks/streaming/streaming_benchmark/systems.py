"""The loader under test, built as the benchmark's options say."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from pytest_videodecode.errors import LoaderSpecError
from pytest_videodecode.loaders.build import build
from pytest_videodecode.loaders.spec import REGISTERED, parse
from streaming_benchmark.arguments import RunSettings
from streaming_benchmark.describe import Described, windows
from streaming_benchmark.errors import BenchmarkError

#: Loaders by name; the stand-in lies beside the benchmark.
NAMES = {**REGISTERED, "standin": "lerobot_standin:StandInDataset"}
_FOLDER = Path(__file__).parents[1]

#: Packages whose version decides what was measured.
_PACKAGES = ("torch", "av", "torchcodec", "lerobot", "datasets", "pyarrow", "fsspec", "huggingface_hub", "numpy")


def load(settings: RunSettings, data: Described) -> Any:
    """The loader, with the window of the mode for every camera.

    Raises:
        BenchmarkError: a spec that names nothing, an option that the loader does not have, or what it raised.
    """
    if str(_FOLDER) not in sys.path:  # for the stand-in, also in workers that are spawned
        sys.path.append(str(_FOLDER))
    asked = {
        "repo_id": settings.repo_id,
        "root": settings.root,
        "revision": settings.revision,
        "data_files_root": settings.data_files_root,
        "delta_timestamps": windows(settings.mode, data.cameras),
        "buffer_size": settings.buffer_size,
        "decoder_cache_size": settings.video_decoder_cache_size,
        "video_decode_device": None if settings.video_decode_device == "cpu" else settings.video_decode_device,
        "seed": settings.seed,
        "shuffle": True,
    }
    must = ("root", "repo_id", "delta_timestamps", "video_decode_device", "data_files_root")
    try:
        spec = parse(settings.dataset, NAMES)
        if spec.python:
            raise BenchmarkError(
                "--dataset: an interpreter is not named here; run the benchmark with that interpreter"
            )
        # a folder that is given stands for itself; the name on the Hub is then only a name
        needed = [name for name in must if not (name == "repo_id" and settings.root)]
        return build(spec.target, asked, must=needed, options=spec.options).loader
    except LoaderSpecError as error:
        raise BenchmarkError(f"--dataset: {error}") from None
    except BenchmarkError:
        raise
    except Exception as error:
        raise BenchmarkError(f"loader {settings.dataset}: {one_line(error)}") from error


def versions() -> dict[str, str]:
    """Of the packages that a loader may stand on, where they are installed."""
    found = {"python": sys.version.split()[0]}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def one_line(error: BaseException) -> str:
    """What an error says. Of one that a DataLoader brought over from a worker: what was raised there."""
    lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()]
    if lines and lines[0].startswith("Caught "):
        return lines[-1][:400]
    said = " ".join(lines)[:400]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
