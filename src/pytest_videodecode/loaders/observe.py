"""From a loader's sample to what it says and shows, in the process that made it: no picture leaves that process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_videodecode.datasets import marks
from pytest_videodecode.decoders.normalise import to_frames
from pytest_videodecode.errors import DecoderContractError
from pytest_videodecode.loading import Sample


class Observer:
    """Reads samples; given to a DataLoader as its ``collate_fn``, so that workers do it. ``cameras`` name them."""

    def __init__(self, cameras: Sequence[str]) -> None:
        self._cameras = tuple(cameras)

    def __call__(self, sample: Any) -> Sample:
        """What one sample says of itself and shows.

        Raises:
            DecoderContractError: it is no mapping, or lacks its episode, its frame or a camera.
        """
        if not isinstance(sample, Mapping):
            raise DecoderContractError(f"the loader gave {type(sample).__name__}; samples are mappings")
        cameras = {camera: _value(sample, camera) for camera in self._cameras}
        flags = {camera: sample.get(f"{camera}_is_pad") for camera in self._cameras}
        return Sample(
            episode=int(_value(sample, "episode_index")),
            frame=int(_value(sample, "frame_index")),
            shown={camera: _shown(pictures) for camera, pictures in cameras.items()},
            pads={camera: tuple(map(bool, flag)) for camera, flag in flags.items() if flag is not None},
        )


def _shown(pictures: Any) -> tuple[tuple[int, ...] | None, ...]:
    batch = to_frames(pictures if len(pictures.shape) == 4 else [pictures])
    return tuple(None if mark is None else tuple(mark) for mark in marks.read(batch))


def _value(sample: Mapping[str, Any], name: str) -> Any:
    try:
        return sample[name]
    except KeyError:
        known = ", ".join(map(str, sample))
        raise DecoderContractError(f"a sample of the loader has no {name!r}; it has {known}") from None
