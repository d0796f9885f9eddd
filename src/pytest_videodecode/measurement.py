"""The words of timed runs as frozen values: sample, seat, measurement, comparison, regression.

Only the standard library is imported here, as in ``model``. Times are seconds, memory bytes. A *sample* is what a
training job asks for at once (two cameras × nine frames of a 33-frame window); a *seat* is one process that decodes
samples for a set time; a measurement adds up the seats that sat at the same time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from pytest_videodecode.jsonform import NOT_JSON


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """What a measurement must share with another for their wall-clock figures to be compared."""

    cpu: str
    cores: int
    memory: int
    system: str
    python: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Split:
    """Where the time of one stream goes, undisturbed: medians over repeats, in seconds.

    ``open_s`` is a request for the first frame of a clip not seen before, ``first_frame_s`` the same again,
    ``steady_s`` one sample of the steady state, alone on the machine: the latency that stands beside a throughput.
    """

    open_s: float
    first_frame_s: float
    steady_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Seat:
    """What one process did in its time. ``lost`` says in one line why it brought nothing; empty when it did.

    ``latencies_s`` holds one entry per sample. ``digests`` is the digest of each distinct sample's pixels by its
    name; a sample decoded twice with different pixels sets ``unsteady``. ``decoded_frames`` is how many frames the
    codec gave out for all samples (as many for each as in an untimed pass, on average), None where that cannot be
    seen. ``threads_peak`` counts OS threads. ``wall_s`` and ``cpu_s`` are without what the measuring took, which is
    ``measuring_s`` of CPU.
    """

    seat: int
    samples: int = 0
    frames: int = 0
    wall_s: float = 0.0
    cpu_s: float = 0.0
    measuring_s: float = 0.0
    voluntary_switches: int = 0
    involuntary_switches: int = 0
    threads_peak: int = 0
    rss_peak: int = 0
    decoded_frames: float | None = None
    latencies_s: tuple[float, ...] = ()
    digests: Mapping[str, str] = field(default_factory=dict)
    unsteady: bool = False
    lost: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Measurement:
    """The sum over the seats that sat together, of one decoder on one codec.

    ``cpu_per_sample_s`` and the switches are per sample; ``threads_peak`` is the sum over the seats, ``rss_peak``
    that of the largest. ``identical`` is whether every sample had the same pixels in every seat and every time.
    ``lost`` names the seats that died or hung. ``overhead`` is the share of the CPU that the measuring itself took.
    ``latencies_s`` are those of all seats, one per sample.
    """

    decoder: str
    codec: str
    sample: str
    processes: int
    seconds: float
    samples: int
    samples_per_s: float
    frames_per_s: float
    cpu_per_sample_s: float
    voluntary_per_sample: float
    involuntary_per_sample: float
    threads_peak: int
    rss_peak: int
    p50_s: float
    p95_s: float
    p99_s: float
    identical: bool
    decoded_per_sample: float | None = None
    split: Split | None = None
    overhead: float = 0.0
    lost: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    latencies_s: tuple[float, ...] = field(default=(), metadata=NOT_JSON, repr=False)


class Direction(StrEnum):
    """What a comparison says of the second of two against the first."""

    FASTER = "faster"
    SLOWER = "slower"
    NO_DIFFERENCE = "no difference"
    UNDECIDED = "undecided"


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """Two decoders in interleaved rounds: the median of paired ratios and its bootstrap confidence interval.

    ``ratio`` is throughput of ``after`` over that of ``before``, above 1 is faster; ``low`` and ``high`` bound it at
    ``confidence``. ``at_least`` is by how much the direction holds for sure (0.07: 7 %), 0 without one.
    """

    before: str
    after: str
    metric: str
    ratio: float
    low: float
    high: float
    confidence: float
    pairs: int
    direction: Direction
    at_least: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Regression:
    """One metric that passed its limit. ``str`` is the line that the user reads."""

    metric: str
    decoder: str
    codec: str
    before: float
    now: float
    limit: float
    kind: str = "stable"  # or ``wall``: an interleaved ratio

    def __str__(self) -> str:
        return (
            f"{self.metric} of {self.decoder} on {self.codec}: was {self.before:g}, now {self.now:g}, "
            f"limit {self.limit:g} ({self.kind})"
        )
