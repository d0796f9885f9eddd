"""The baseline: what was measured before, as JSON that is kept beside the code.

A file that others write, so it is read strictly, and never trusted for more than numbers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pytest_videodecode.errors import FormError, OptionError
from pytest_videodecode.jsonform import from_json, parse, to_json
from pytest_videodecode.measure.metrics import LIMITS, check_limits, stable_figures
from pytest_videodecode.measurement import Machine, Measurement

SCHEMA = "videodecode-baseline/1"

#: Longest file read, in bytes; a hundred decoders on ten codecs are a tenth of it.
_MAX_BYTES = 4 << 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One decoder on one codec, where and with what it was measured.

    ``metrics`` are the stable figures, ``wall`` those of the clock (samples/s, frames/s, latencies in seconds),
    which are kept for the reader and never held against another run.
    """

    decoder: str
    codec: str
    sample: str
    seed: int
    processes: int
    machine: Machine
    versions: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, float]
    wall: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, figure in (*self.metrics.items(), *self.wall.items()):
            if not 0 <= figure < math.inf:
                raise ValueError(f"{name} is {figure}, which nothing can be compared with")


@dataclass(frozen=True, kw_only=True, slots=True)
class Baseline:
    """All entries, and the limits that go with them."""

    schema: str = SCHEMA
    limits: Mapping[str, float] = field(default_factory=lambda: dict(LIMITS))
    entries: tuple[Entry, ...] = ()

    def __post_init__(self) -> None:
        for name, limit in self.limits.items():
            if not 0 < limit < math.inf:
                raise ValueError(f"the limit of {name} is {limit}; give a number above 0")

    @property
    def codecs(self) -> tuple[str, ...]:
        """The codecs that it has anything of, in their order."""
        return tuple(dict.fromkeys(entry.codec for entry in self.entries))


def entry_of(measured: Measurement, machine: Machine, seed: int) -> Entry:
    """What a baseline keeps of a measurement; ``seed`` is what its samples were drawn with."""
    clock = ("samples_per_s", "frames_per_s", "p50_s", "p95_s", "p99_s")
    return Entry(
        decoder=measured.decoder,
        codec=measured.codec,
        sample=measured.sample,
        seed=seed,
        processes=measured.processes,
        machine=machine,
        versions=measured.versions,
        metrics=stable_figures(measured),
        wall={name: getattr(measured, name) for name in clock},
    )


def updated(
    old: Baseline | None,
    measured: Iterable[Measurement],
    machine: Machine,
    seed: int,
    limits: Mapping[str, float],
) -> Baseline:
    """``old`` with what was measured now in place of the same decoder and codec; other entries stay as they are."""
    entries = {(entry.decoder, entry.codec): entry for entry in (old.entries if old else ())}
    entries |= {(one.decoder, one.codec): entry_of(one, machine, seed) for one in measured}
    base = old or Baseline()
    return replace(base, limits={**base.limits, **limits}, entries=tuple(entries.values()))


def dumps(baseline: Baseline) -> str:
    """The text of the file: a figure a line, so that a change of one reads well in a diff."""
    return json.dumps(to_json(baseline), indent=1) + "\n"


def load(path: Path) -> Baseline:
    """The baseline of a file.

    Raises:
        OptionError: for a file that is missing, too long, no JSON, of another schema, or of another form.
    """
    remedy = "make a new one with --videodecode-update-baseline and another name"
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        raise OptionError(f"there is no baseline {path}; make it with --videodecode-update-baseline") from None
    except (OSError, ValueError) as error:
        raise OptionError(f"cannot read the baseline {path} ({error}); correct its name or its permissions") from None
    if len(content) > _MAX_BYTES:
        raise OptionError(f"baseline {path}: more than the {_MAX_BYTES >> 20} MiB that are read; {remedy}")
    try:
        data = parse(content, "baseline")
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            found = data.get("schema") if isinstance(data, dict) else None
            raise OptionError(f"baseline {path}: unknown schema {found!r:.60}, known is {SCHEMA!r}; {remedy}")
        baseline = from_json(Baseline, data, "baseline")
        check_limits(baseline.limits)
    except FormError as error:
        raise OptionError(f"{path}: {error}; {remedy}") from None
    return baseline


def find(entries: Sequence[Entry], measured: Measurement) -> Entry | None:
    """The entry of the same decoder and codec."""
    same = (entry for entry in entries if (entry.decoder, entry.codec) == (measured.decoder, measured.codec))
    return next(same, None)
