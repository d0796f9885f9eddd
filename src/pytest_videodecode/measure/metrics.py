"""The figures of a measurement that hold still from run to run, and what each of them depends on.

Wall-clock figures are none of them: the same setting gave 160 to 355 samples/s in three rounds on one machine, while
its context switches stayed within 5 %.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pytest_videodecode.errors import OptionError
from pytest_videodecode.measurement import Measurement

#: The limit of an interleaved comparison: the least that the new throughput may be of the old one.
THROUGHPUT = "throughput"


@dataclass(frozen=True, kw_only=True, slots=True)
class Metric:
    """One stable figure. It may be ``limit`` times what it was; a rise of no more than ``slack`` never counts.

    ``limit`` None: written down, and held to a limit only where the user gives one. ``same_machine``,
    ``same_cores`` and ``same_processes`` say what two runs must share for it to mean the same in both.
    """

    name: str
    read: Callable[[Measurement], float | None]
    limit: float | None
    slack: float
    same_machine: bool = False
    same_cores: bool = False
    same_processes: bool = False


METRICS = (
    Metric(
        name="threads_per_process",
        read=lambda measured: measured.threads_peak / max(measured.processes - len(measured.lost), 1),
        limit=1.0,
        slack=0.5,  # the peak is sampled, so one process of several may have been seen one thread short
        same_cores=True,
    ),
    Metric(
        name="voluntary_switches",
        read=lambda measured: measured.voluntary_per_sample,
        limit=1.25,
        slack=5.0,
        same_machine=True,
        same_processes=True,
    ),
    Metric(
        name="involuntary_switches",
        read=lambda measured: measured.involuntary_per_sample,
        limit=None,  # every other process of the machine adds to them
        slack=5.0,
        same_machine=True,
        same_processes=True,
    ),
    Metric(
        name="decoded_per_sample",
        read=lambda measured: measured.decoded_per_sample,
        limit=1.05,  # each process has samples of its own, and decodes more or fewer of them
        slack=0.0,
        same_processes=True,
    ),
    Metric(
        name="cpu_per_sample",
        read=lambda measured: measured.cpu_per_sample_s,
        limit=1.25,
        slack=0.0,
        same_machine=True,
        same_processes=True,
    ),
)

#: Without a word of the user.
LIMITS: Mapping[str, float] = {
    **{metric.name: metric.limit for metric in METRICS if metric.limit is not None},
    THROUGHPUT: 1.0,
}


def check_limits(limits: Mapping[str, float]) -> None:
    """Raise an ``OptionError`` for a limit of something that is no metric."""
    known = [*(metric.name for metric in METRICS), THROUGHPUT]
    if unknown := [name for name in limits if name not in known]:
        raise OptionError(f"{unknown[0]!r} is no metric of the gate; choose from {', '.join(known)}")


def stable_figures(measured: Measurement) -> dict[str, float]:
    """Every metric that could be seen, by name."""
    figures = {metric.name: metric.read(measured) for metric in METRICS}
    return {name: figure for name, figure in figures.items() if figure is not None}
