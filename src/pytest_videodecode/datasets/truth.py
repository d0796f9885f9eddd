"""The truth about a synthetic data set: what it holds, and which frame a picture shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_videodecode import jsonform
from pytest_videodecode.datasets import marks
from pytest_videodecode.datasets.marks import Mark
from pytest_videodecode.datasets.spec import DatasetSpec, require_usable
from pytest_videodecode.datasets.tables import SPEC, columns
from pytest_videodecode.errors import ClipError


@dataclass(frozen=True, slots=True)
class DatasetTruth:
    """A data set in ``folder`` made by ``spec``."""

    folder: str
    spec: DatasetSpec

    @property
    def keys(self) -> tuple[str, ...]:
        """The feature names of the cameras (``observation.images.front``); a mark's ``camera`` is a place here."""
        return self.spec.keys

    @property
    def frames(self) -> int:
        """How many frames, that is samples, the data set has."""
        return self.spec.starts[-1]

    def samples(self) -> Iterator[tuple[int, int]]:
        """Every sample as (episode, frame), in the order of ``index``."""
        return ((episode, frame) for episode, length in enumerate(self.spec.lengths) for frame in range(length))

    def row(self, episode: int, frame: int) -> dict[str, NDArray[Any]]:
        """What the data parquet says of one frame."""
        return {name: values[frame] for name, values in columns(self.spec, range(episode, episode + 1)).items()}

    def window(self, episode: int, frame: int, offsets: tuple[int, ...]) -> tuple[list[int], NDArray[np.bool_]]:
        """The frames that a window around ``frame`` shows, and which of them are padding.

        ``offsets`` are in frames. A frame before or after the episode is its first or last one, and padding.
        """
        last = self.spec.lengths[episode] - 1
        asked = [frame + offset for offset in offsets]
        return [min(max(number, 0), last) for number in asked], np.array([not 0 <= n <= last for n in asked])

    def read(self, pictures: Any) -> list[Mark | None]:
        """Episode, camera and frame that each picture shows, from its pixels alone; None where it shows none.

        ``pictures`` as ``marks.read`` takes them: numpy or torch, channels first or last, ``uint8`` or floats.
        """
        return marks.read(pictures)


def read_truth(folder: Path) -> DatasetTruth:
    """The truth about a data set that ``make_dataset`` has written into ``folder``.

    Raises:
        ClipError: it is none.
        FormError: its recipe has been changed into something that is none.
    """
    try:
        text = (folder / SPEC).read_bytes()
    except OSError as error:
        raise ClipError(
            f"{folder}: no synthetic data set ({SPEC}: {error.strerror}); make one with videodecode dataset make"
        ) from None
    spec = jsonform.loads(DatasetSpec, text, SPEC)
    require_usable(spec)
    return DatasetTruth(str(folder), spec)
