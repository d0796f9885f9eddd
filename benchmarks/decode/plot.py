"""Bars of the median request, one panel per codec, GOP, size and thread count."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.decode.tables import Result

_COLUMNS = 3


def draw(results: Sequence[Result], target: Path) -> Path:
    """Write the plot to ``target``.

    Raises:
        ImportError: matplotlib is not installed.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(result.cell.group, []).append(result)
    names = list(dict.fromkeys(name for each in results for name in each.timings if each.times(name)))
    width = 0.85 / max(len(names), 1)
    columns = min(_COLUMNS, len(groups))
    rows = -(-len(groups) // columns)
    figure = Figure(figsize=(5.5 * columns, 3.2 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns, squeeze=False).flat
    for axis in axes[len(groups) :]:
        axis.set_axis_off()
    for axis, (group, members) in zip(axes, groups.items(), strict=False):
        for number, name in enumerate(names):
            heights = [timing.wall * 1e3 if (timing := each.times(name)) else 0.0 for each in members]
            places = [place + number * width for place in range(len(members))]
            axis.bar(places, heights, width, label=name, color=f"C{number}")
        axis.set_xticks([place + 0.4 for place in range(len(members))], [each.cell.pattern for each in members])
        axis.set_yscale("log")
        axis.set_ylabel("ms a request")
        axis.set_title(group, fontsize=9)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, fontsize=8)
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target, dpi=110)
    return target
