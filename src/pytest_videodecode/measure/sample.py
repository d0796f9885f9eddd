"""What a seat decodes: windows of several cameras, drawn from clips that are made once and kept."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.clips.catalogue import CATALOGUE
from pytest_videodecode.errors import MeasurementError
from pytest_videodecode.isolation.protocol import Sample
from pytest_videodecode.model import Clip, ClipSpec, DecodeRequest, DecoderInfo, Outcome, OutcomeKind


@dataclass(frozen=True, kw_only=True, slots=True)
class SampleShape:
    """One sample: ``cameras`` windows of ``picked`` evenly spaced frames out of ``window``, all at the same time.

    The rest says what the clips are: every camera has one of ``length`` frames for each of ``episodes``. The
    defaults are the data set of robot pictures that the cap on libdav1d's pool was measured on: 256x256, a
    keyframe every second frame. ``distinct`` is how many samples one seat decodes in turn; half of them are
    the same in all seats.
    """

    cameras: int = 2
    picked: int = 9
    window: int = 33
    width: int = 256
    height: int = 256
    rate: Fraction = Fraction(30)
    gop: int = 2
    length: int = 128
    episodes: int = 1
    distinct: int = 6

    def __post_init__(self) -> None:
        least = {"cameras": 1, "picked": 1, "window": self.picked, "length": self.window, "episodes": 1, "distinct": 1}
        for name, low in least.items():
            if getattr(self, name) < low:
                raise MeasurementError(f"a sample cannot have {name}={getattr(self, name)}; give {low} or more")

    @property
    def name(self) -> str:
        """In words, as reports show it."""
        return (
            f"{self.cameras} x {self.picked} of {self.window} frames, {self.width}x{self.height}, "
            f"{float(self.rate):g} fps, GOP {self.gop}"
        )

    @property
    def offsets(self) -> tuple[int, ...]:
        """The places of the frames in their window: the first, the last, and evenly spaced ones between them."""
        last = self.picked - 1
        return tuple(round(place * (self.window - 1) / last) for place in range(self.picked)) if last else (0,)


#: The fields of a clip spec that a sample's shape sets, where they are not set already.
_SET = ("width", "height", "rate", "gop")


def clip_spec(codec: str, shape: SampleShape) -> ClipSpec:
    """The clips of ``codec`` (a codec, a name of the catalogue, or a spec such as ``h264:gop=12``).

    Raises:
        FormError: for text that is no clip spec.
    """
    spec = CATALOGUE.get(codec) or ClipSpec.parse(codec)
    given = {part.partition("=")[0] for part in codec.split(":")}
    given |= {field.name for field in fields(spec) if getattr(spec, field.name) != field.default}
    unset = {name: getattr(shape, name) for name in _SET if name not in given}
    return replace(spec, **unset, frames=shape.length)


class Samples:
    """The samples of every seat: drawn from ``seed``, the same for the same seed, shape and codec."""

    def __init__(self, codec: str, shape: SampleShape, cache: ClipCache, seed: int) -> None:
        self.shape = shape
        self._seed = seed
        spec = clip_spec(codec, shape)
        self.clips: list[list[Clip]] = [
            [cache.clip(replace(spec, texture=episode * shape.cameras + camera)) for camera in range(shape.cameras)]
            for episode in range(shape.episodes)
        ]

    def of_seat(self, seat: int, info: DecoderInfo) -> tuple[Sample, ...]:
        """``distinct`` samples; the first half is what every other seat decodes too."""
        shared = self._shared()
        own = self._draw(random.Random(f"{self._seed}:{seat}"), self.shape.distinct - len(shared), shared)
        return tuple(
            Sample(
                name=f"episode {episode} from frame {start}",
                requests=tuple(request(clip, self._frames(start), info) for clip in self.clips[episode]),
            )
            for episode, start in (*shared, *own)
        )

    def proof(self) -> list[tuple[Clip, list[int]]]:
        """The clips and frames of one sample that all seats decode, for ``require_right``."""
        episode, start = self._shared()[0]
        return [(clip, self._frames(start)) for clip in self.clips[episode]]

    def _frames(self, start: int) -> list[int]:
        return [start + offset for offset in self.shape.offsets]

    def _shared(self) -> list[tuple[int, int]]:
        return self._draw(random.Random(f"{self._seed}"), (self.shape.distinct + 1) // 2, ())

    def _draw(self, rng: random.Random, count: int, taken: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        starts = self.clips[0][0].frames - self.shape.window + 1
        places = [(episode, start) for episode in range(self.shape.episodes) for start in range(starts)]
        left = [place for place in places if place not in taken]
        return rng.sample(left, count) if count <= len(left) else rng.choices(places, k=count)


def request(clip: Clip, frames: Sequence[int], info: DecoderInfo, path: str = "") -> DecodeRequest:
    """``frames`` of ``clip``, or of its copy ``path``, as the decoder takes them: by index, else by true time."""
    if "indices" in info.asks:
        return DecodeRequest(path=path or clip.path, indices=tuple(frames))
    return DecodeRequest(path=path or clip.path, timestamps=tuple(float(clip.times[number]) for number in frames))


def require_right(decoder: str, clip: Clip, frames: Sequence[int], outcome: Outcome) -> None:
    """Hold what came against the clip's own truth.

    Raises:
        MeasurementError: naming the first frame that is not the one asked; its time would mean nothing.
    """
    if outcome.kind is not OutcomeKind.FRAMES:
        raise MeasurementError(f"{decoder} is not measured on {clip.name}: asked for {len(frames)} frames, {outcome}")
    shown = clip.read(outcome.frames, frames)
    for asked, got in zip(frames, shown, strict=True):
        if asked != got:
            seen = "a picture that is no frame of the clip" if got is None else f"frame {got}"
            raise MeasurementError(
                f"{decoder} is not measured on {clip.name}: asked frame {asked}, got {seen}; "
                f"run: videodecode check {decoder} --codecs {clip.codec}"
            )
