"""The words of this package as frozen values: clip spec, clip, request, outcome, verdict.

Only the standard library is imported here, so that a worker in another interpreter and a report can both use it.
Pixels are ``uint8`` arrays of shape ``(N, H, W, 3)``, RGB; times are seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from fractions import Fraction
from typing import Any, Protocol

from pytest_videodecode.errors import FormError
from pytest_videodecode.jsonform import NOT_JSON, from_json


@dataclass(frozen=True, kw_only=True, slots=True)
class ClipSpec:
    """The recipe of a synthetic clip. Equal specs make equal files.

    ``gop`` is the distance of keyframes in frames, ``bframes`` the number of consecutive B-frames, ``start`` the
    presentation time of the first frame in seconds, ``texture`` the seed of the moving picture.
    """

    codec: str = "av1"
    container: str = "mp4"
    width: int = 192
    height: int = 128
    frames: int = 48
    rate: Fraction = Fraction(30)
    gop: int = 8
    bframes: int = 0
    open_gop: bool = False
    faststart: bool = True
    fragmented: bool = False
    start: Fraction = Fraction(0)
    variable_rate: bool = False
    audio: bool = False
    pix_fmt: str = "yuv420p"
    quality: int | None = None
    texture: int = 0

    @property
    def name(self) -> str:
        """Short, and ``parse`` reads it back: the codec, then what is not the default (``h264:bframes=2``)."""
        own = [(f.name, getattr(self, f.name)) for f in fields(self) if getattr(self, f.name) != f.default]
        shown = [f"{name}={str(value).lower()}" for name, value in own if name != "codec"]
        return ":".join([self.codec, *shown])

    @classmethod
    def parse(cls, text: str) -> ClipSpec:
        """The spec that ``text`` names: ``CODEC[:field=value…]``, such as ``h264:bframes=2:container=avi``.

        Raises:
            FormError: for an unknown field or a value of another kind.
        """
        codec, *parts = text.strip().split(":")
        given: dict[str, Any] = {"codec": codec}
        for part in parts:
            name, equals, value = part.partition("=")
            if not equals:
                raise FormError(f"clip {text!r}: {part!r} is not field=value")
            words: dict[str, Any] = {"true": True, "false": False, "none": None}
            number = value.isascii() and value.isdigit() and len(value) <= 18  # int() takes not much longer ones
            given[name] = int(value) if number and name not in ("rate", "start") else words.get(value, value)
        return from_json(cls, given, f"clip {text!r}")


class FrameReader(Protocol):
    """Says which frame a picture shows, from its pixels alone."""

    def __call__(self, frames: Any, expected: Sequence[int]) -> list[int | None]:
        """The frame number that each picture of ``frames`` (N,H,W,3) shows; None where it shows none.

        ``expected`` (N numbers) only breaks ties: where a picture fits several frames equally, because they
        are alike, the expected one counts if it is among them.
        """


@dataclass(frozen=True, kw_only=True, slots=True)
class Clip:
    """A video file and the truth about it, in presentation order.

    ``intact`` False marks a file that FFmpeg itself decodes only with errors; generated clips are intact.
    """

    name: str
    path: str
    codec: str
    width: int
    height: int
    times: tuple[Fraction, ...]
    keyframes: tuple[int, ...]
    spec: ClipSpec | None = None
    container: str = ""
    intact: bool = True
    read: FrameReader = field(metadata=NOT_JSON, repr=False, compare=False)

    @property
    def frames(self) -> int:
        """How many frames the clip shows."""
        return len(self.times)


@dataclass(frozen=True, kw_only=True, slots=True)
class DecodeRequest:
    """What is asked of a decoder: frames of one file, by ``indices`` or by ``timestamps``, never both.

    ``threads`` None leaves the decoder's own default; ``thread_type`` is PyAV's (``SLICE``, ``FRAME``, ``AUTO``);
    ``open_as`` is ``path``, ``file`` (a file object) or ``unseekable`` (a file object without ``seek``);
    ``faults`` are planted inside the worker (``seek``: every container seek fails); ``observe`` has the worker
    report what it sees from inside (codec contexts opened, seeks made), ``count_threads`` has the parent sample
    OS threads while the decode runs. ``then_exit`` has the worker end after this request, with the decoder's objects
    still alive: a process that does not end within the limit is a hang.
    """

    path: str
    indices: tuple[int, ...] | None = None
    timestamps: tuple[float, ...] | None = None
    tolerance_s: float = 1e-4
    threads: int | None = None
    thread_type: str | None = None
    log_level: str | None = None
    stop_after: int | None = None
    device: str = "cpu"
    open_as: str = "path"
    faults: tuple[str, ...] = ()
    observe: bool = False
    count_threads: bool = False
    then_exit: bool = False

    @property
    def asked(self) -> int:
        """How many frames are asked for."""
        return len(self.indices if self.indices is not None else self.timestamps or ())

    def __str__(self) -> str:
        by, values = ("index", self.indices) if self.indices is not None else ("timestamp", self.timestamps or ())
        listed = ", ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in values[:12])
        more = f", … {len(values)} in all" if len(values) > 12 else ""
        extras = [
            f"{name}={getattr(self, name)}"
            for name in ("threads", "thread_type", "log_level", "stop_after")
            if getattr(self, name) is not None
        ]
        if self.open_as != "path":
            extras.append(f"opened as {self.open_as}")
        extras += [f"with a failing {fault}" for fault in self.faults]
        if self.then_exit:
            extras.append("then the process ends")
        return ", ".join([f"frames by {by} [{listed}{more}]", *extras])


class OutcomeKind(StrEnum):
    """What can come of a request; exactly one of these."""

    FRAMES = "frames"
    PARTIAL = "partial"
    ERROR = "error"
    SILENT_LOSS = "silent_loss"
    HANG = "hang"
    CRASH = "crash"
    OUT_OF_MEMORY = "out_of_memory"


@dataclass(frozen=True, kw_only=True, slots=True)
class ErrorInfo:
    """An exception raised in a worker; ``bases`` are the qualified names of its classes, most derived first."""

    type: str
    message: str
    bases: tuple[str, ...] = ()
    traceback: str = ""

    def __str__(self) -> str:
        return f"{self.type}: {self.message}" if self.message else self.type


@dataclass(frozen=True, kw_only=True, slots=True)
class Census:
    """What a request cost and left, in the worker process. Memory in bytes, times in seconds.

    ``threads_*`` count OS threads; ``thread_names`` gives, by name (``dav1d-worker``, ``av:h264:df``: trailing
    numbers cut), the most seen at one time. ``threads_peak``, ``thread_names`` and ``thread_samples`` (how often
    was looked) are 0 and empty unless the request asked ``count_threads``.
    """

    wall_s: float = 0.0
    cpu_s: float = 0.0
    threads_before: int = 0
    threads_after: int = 0
    threads_peak: int = 0
    thread_names: Mapping[str, int] = field(default_factory=dict)
    thread_samples: int = 0
    fds_before: int = 0
    fds_after: int = 0
    rss_before: int = 0
    rss_after: int = 0
    voluntary_switches: int = 0
    involuntary_switches: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Hang:
    """What a worker was doing when its limit passed. ``gil_held`` and ``cpu_bound`` are None where unknown.

    ``phase`` is ``open``, ``seek``, ``decode``, ``convert``, ``close`` or ``exit``, as far as the Python stack says;
    ``where`` is its innermost line. ``stacks`` are Python's, ``native_stacks`` those of a native stack reader.
    """

    limit_s: float
    phase: str = ""
    where: str = ""
    gil_held: bool | None = None
    cpu_bound: bool | None = None
    stacks: str = ""
    native_stacks: str = ""
    thread_names: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        held = {True: ", GIL held", False: ", GIL released", None: ""}
        phase = f" in {self.phase}" if self.phase else ""
        where = f" ({self.where})" if self.where else ""
        return f"hang{phase} after {self.limit_s:g} s{held[self.gil_held]}{where}"


@dataclass(frozen=True, kw_only=True, slots=True)
class StreamSeen:
    """One codec context that PyAV opened during a request: as it was opened, and as the decode left it.

    ``thread_count`` 0 is FFmpeg's automatic choice.
    """

    codec: str
    decoder: str
    opened_thread_count: int
    opened_thread_type: str
    thread_count: int
    thread_type: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Observed:
    """What the worker saw from inside while it served a request with ``observe``."""

    streams: tuple[StreamSeen, ...] = ()
    seeks: int = 0
    failed_seeks: int = 0
    reason: str = ""  # why nothing could be observed; empty when it could


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What came of one request. ``frames`` is ``uint8 (N,H,W,3)``, or None when no frame came."""

    kind: OutcomeKind
    frames: Any = field(default=None, metadata=NOT_JSON, repr=False, compare=False)
    count: int = 0
    error: ErrorInfo | None = None
    census: Census = Census()
    observed: Observed | None = None
    hang: Hang | None = None
    signal: str = ""
    log: str = ""  # the last lines that the worker wrote to its standard error

    def __str__(self) -> str:
        match self.kind:
            case OutcomeKind.FRAMES:
                return f"{self.count} frames"
            case OutcomeKind.PARTIAL:
                return f"{self.count} frames, then {self.error}"
            case OutcomeKind.SILENT_LOSS:
                return f"{self.count} frames and no error"
            case OutcomeKind.HANG:
                return str(self.hang or "hang")
            case OutcomeKind.CRASH:
                return f"crash ({self.signal or self.error})"
            case OutcomeKind.OUT_OF_MEMORY:
                return f"out of memory ({self.error})" if self.error else "out of memory"
            case _:
                return str(self.error)


@dataclass(frozen=True, kw_only=True, slots=True)
class DecoderInfo:
    """What a loaded decoder says of itself; a check asks here before it asks for something.

    ``asks`` holds ``indices`` and/or ``timestamps``; ``threads_by`` says in words how a thread count reaches it
    (``environment variable X``, ``parameter threads``), empty when it cannot; ``thread_types``, ``opens_as`` and
    ``stops_early`` name what it honours of a request; ``thread_cap`` is the pool size it promises for libdav1d
    when no count is asked, None for no promise; ``versions`` are those of the libraries it decodes with.
    """

    name: str
    asks: tuple[str, ...] = ("indices", "timestamps")
    threads_by: str = ""
    thread_types: tuple[str, ...] = ()
    opens_as: tuple[str, ...] = ("path",)
    log_levels: bool = False
    stops_early: bool = False
    thread_cap: int | None = None
    resizes: bool = False
    versions: Mapping[str, str] = field(default_factory=dict)


class Status(StrEnum):
    """The result of a check. ``error`` is a fault of the set-up (or of this package), not of the decoder."""

    PASSED = "passed"
    FAILED = "failed"
    UNSUPPORTED = "unsupported"
    ERROR = "error"


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """check × decoder × clip → status, with one line of reason and the evidence (JSON types only)."""

    check: str
    decoder: str
    clip: str
    status: Status
    reason: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    replay: str = ""
    expected: str = ""  # an expected verdict's reason, where the clip carries one and it came true
