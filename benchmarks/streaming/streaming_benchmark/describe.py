"""What must be known of a data set before its loader is built: its cameras and its rate."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streaming_benchmark.arguments import RunSettings
from streaming_benchmark.errors import BenchmarkError

INFO = "meta/info.json"
_MAX_BYTES = 16 << 20

#: SARM asks for so many frames, a second apart, the last of them at the sample's own time.
SARM_FRAMES = 8


@dataclass(frozen=True, slots=True)
class Described:
    """The camera keys of a data set, and its frames per second."""

    cameras: tuple[str, ...]
    fps: float


def describe(settings: RunSettings) -> Described:
    """Read ``meta/info.json`` of the data set, from ``root`` or from the Hub.

    Raises:
        BenchmarkError: what cannot be reached, is no LeRobot v3 data set, or has no camera.
    """
    where = settings.root or f"hf://datasets/{settings.repo_id}"
    return described(_read(settings, where), where)


def described(text: bytes, where: str) -> Described:
    """``describe`` on the bytes of the file; ``where`` names the data set in errors."""
    try:
        info = json.loads(text)
        version, features, fps = info["codebase_version"], info["features"], float(info["fps"])
        cameras = tuple(name for name, feature in features.items() if feature["dtype"] == "video")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise BenchmarkError(
            f"{where} is no LeRobot v3 data set: {INFO} lacks codebase_version, fps or features"
        ) from None
    if not str(version).startswith("v3"):
        raise BenchmarkError(f"{where} is no LeRobot v3 data set: its version is {version!s:.40}; convert it to v3.0")
    if not cameras:
        raise BenchmarkError(f"{where} has no video: no feature of {INFO} has the dtype 'video'")
    if not 0 < fps < 100_000:
        raise BenchmarkError(f"{where}: {INFO} says {fps:g} frames per second")
    return Described(cameras, fps)


def windows(mode: str, cameras: tuple[str, ...]) -> dict[str, list[float]] | None:
    """``delta_timestamps`` of a mode, in seconds: None for single frames, a window for EVERY camera in ``sarm``."""
    if mode == "single":
        return None
    steps = [float(step) for step in range(1 - SARM_FRAMES, 1)]
    return {camera: list(steps) for camera in cameras}


def _read(settings: RunSettings, where: str) -> bytes:
    try:
        if settings.root and "://" not in settings.root:
            path = Path(settings.root) / INFO
            return _bounded(path.open("rb"), where)
        if settings.root:
            import fsspec

            return _bounded(fsspec.open(f"{settings.root.rstrip('/')}/{INFO}", "rb").open(), where)
        return _bounded(Path(_from_hub(settings, where)).open("rb"), where)
    except BenchmarkError:
        raise
    except FileNotFoundError:
        raise BenchmarkError(f"{where} is no LeRobot v3 data set: there is no {INFO}") from None
    except Exception as error:
        said = " ".join(str(error).split())[:300]
        raise BenchmarkError(f"cannot read {INFO} of {where}: {type(error).__name__}: {said}") from None


def _from_hub(settings: RunSettings, where: str) -> str:
    import huggingface_hub
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        return huggingface_hub.hf_hub_download(
            str(settings.repo_id), INFO, repo_type="dataset", revision=settings.revision
        )
    except LocalEntryNotFoundError:  # a FileNotFoundError too, but of the cache, not of the data set
        endpoint = huggingface_hub.constants.ENDPOINT
        raise BenchmarkError(
            f"{where} cannot be reached: {endpoint} does not answer; see to the network, HF_ENDPOINT and HF_TOKEN"
        ) from None


def _bounded(file: Any, where: str) -> bytes:
    with file:
        text: bytes = file.read(_MAX_BYTES + 1)
    if len(text) > _MAX_BYTES:
        raise BenchmarkError(f"{where}: {INFO} has more than {_MAX_BYTES} bytes")
    return text
