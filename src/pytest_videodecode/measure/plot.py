"""A sweep as a picture."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_videodecode.errors import OptionError, Unsupported
from pytest_videodecode.measure.tune import Tuning


def require_matplotlib(path: Path) -> None:
    """Refuse, before anything is measured, a picture that could not be drawn.

    Raises:
        Unsupported: naming the extra that brings matplotlib.
        OptionError: a file name with an ending that it does not write, or a folder that is not there.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
    except ImportError as error:
        raise Unsupported(f"a plot needs matplotlib ({error}); run: pip install 'pytest-videodecode[plot]'") from None
    known = FigureCanvasAgg.get_supported_filetypes()
    if path.suffix.lower().removeprefix(".") not in known:
        raise OptionError(f"cannot plot into {path}; give a file that ends in one of {', '.join(sorted(known))}")
    if not path.parent.is_dir() or path.is_dir():
        raise OptionError(f"cannot plot into {path}; give a file in a folder that is there")


def plot(tuning: Tuning, path: Path) -> None:
    """Throughput and latency over the thread count, a line for each number of processes, into ``path``.

    Raises:
        OptionError: where the file cannot be written.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), layout="constrained")
    FigureCanvasAgg(figure)
    rate, latency = figure.subplots(1, 2)
    counts = list(dict.fromkeys(cell.threads for cell in tuning.cells))
    places = range(len(counts))
    for processes in dict.fromkeys(cell.processes for cell in tuning.cells):
        row = {cell.threads: cell for cell in tuning.cells if cell.processes == processes}
        label = "1 process" if processes == 1 else f"{processes} processes"
        rate.plot(places, [row[count].samples_per_s for count in counts], marker="o", label=label)
        latency.plot(places, [row[count].latency_s * 1000 for count in counts], marker="o", label=label)
    for axes, name in ((rate, "samples/s"), (latency, "ms per sample")):
        axes.axvline(counts.index(tuning.threads), linestyle=":", color="gray")
        axes.set_xticks(places, ["auto" if count == 0 else str(count) for count in counts])
        axes.set_xlabel("threads per clip")
        axes.set_ylabel(name)
        axes.set_ylim(bottom=0)
        axes.legend()
    figure.suptitle(f"{tuning.decoder} on {tuning.codec}", parse_math=False)
    part = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        figure.savefig(part)
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise OptionError(f"cannot write the plot {path}: {error.strerror or error}; give another file") from None
