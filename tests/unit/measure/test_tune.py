from __future__ import annotations

import sys
from pathlib import Path

import pytest
from noisy_seats import NoisySeats

from pytest_videodecode.errors import MeasurementError, OptionError, Unsupported
from pytest_videodecode.measure.compare import Series
from pytest_videodecode.measure.plot import plot, require_matplotlib
from pytest_videodecode.measure.tune import Cell, Tuning, cell, crowded, recommend, sweep, tune
from pytest_videodecode.options import Settings


def made(threads: int, processes: int, rate: float, latency_ms: float, cpu_ms: float = 50) -> Cell:
    return Cell(
        threads=threads,
        processes=processes,
        rounds=4,
        samples_per_s=rate,
        cpu_per_sample_s=cpu_ms / 1000,
        latency_s=latency_ms / 1000,
        ratio=rate / 100,
    )


def test_pool_that_is_fast_in_company_is_recommended_and_what_it_costs_alone_is_said() -> None:
    cells = [made(0, 1, 30, 20), made(2, 1, 25, 40), made(0, 8, 100, 80), made(2, 8, 220, 36)]
    threads, reasons = recommend(cells)
    assert threads == 2
    assert reasons == [
        "8 processes: 220.0 samples/s and 50 ms of CPU a sample with 2 threads; 100.0 and 50 ms with the automatic "
        "count (ratio 2.20)",
        "1 process: 40.0 ms a sample with 2 threads, 20.0 ms with the automatic count: one stream alone is faster "
        "there",
    ]


def test_equal_throughput_is_decided_by_latency_then_cpu_then_size() -> None:
    alone = [made(1, 1, 20, 50), made(2, 1, 30, 33), made(4, 1, 30, 33)]
    assert recommend([*alone, *(made(count, 8, 200, 40) for count in (1, 2, 4))])[0] == 2
    thrifty = [made(count, 8, 200, 40, cpu_ms) for count, cpu_ms in ((1, 50), (2, 50), (4, 40))]
    assert recommend([*alone, *thrifty])[0] == 4
    same = [made(count, seats, 200, 40) for seats in (1, 8) for count in (0, 1, 2)]
    threads, reasons = recommend(same)
    assert (threads, reasons[-1]) == (1, "throughput is the same within 5% for every count tried")


def test_busy_machine_is_said() -> None:
    assert crowded(3.0) == []
    (line,) = crowded(62.4)
    assert line.startswith("other work takes 62 % of this machine")


def test_nothing_measured_recommends_nothing() -> None:
    with pytest.raises(MeasurementError, match="nothing to recommend"):
        recommend([])


def test_passes_go_forth_and_back_until_the_time_is_up() -> None:
    bench = NoisySeats(1, 2, 1.5, waits=(0, 0, 0))
    series = [Series(str(place)) for place in range(3)]
    sweep(bench, series, bench.clock() + 8, bench.clock)
    assert bench.played[:9] == [0, 1, 2, 0, 1, 2, 2, 1, 0]
    assert bench.clock() <= 1009
    found = cell(4, 1, series[1], series[0])
    assert (found.threads, found.rounds) == (4, len(series[0].rates))
    assert found.ratio == pytest.approx(0.5)
    assert found.latency_s == pytest.approx(0.12)


def test_pass_that_takes_all_the_time_is_made_twice() -> None:
    bench = NoisySeats(1, 1, sample_s=50)
    sweep(bench, series := [Series("a"), Series("b")], bench.clock() + 5, bench.clock)
    assert [len(one.rates) for one in series] == [2, 2]


def test_decoder_is_swept_and_the_way_to_set_the_count_is_named() -> None:
    found = tune("production", "av1", (1, 2), (1,), Settings(), seconds=1)
    assert [(each.threads, each.processes) for each in found.cells] == [(1, 1), (2, 1)]
    assert found.threads in (1, 2)
    assert found.set_by == "environment variable OPENWAM_VIDEO_DECODE_THREADS"
    assert found.identical


def test_spec_that_sets_its_threads_is_refused() -> None:
    with pytest.raises(OptionError, match="production,threads=2 sets the thread count that is to be found"):
        tune("production,threads=2", "av1", (1, 2), (1,), Settings())


TUNING = Tuning(
    decoder="production",
    codec="av1",
    sample="",
    cells=tuple(made(count, seats, 100, 20) for seats in (1, 2) for count in (0, 1, 2)),
    threads=1,
    set_by="",
    identical=True,
)


def test_plot_is_a_picture_and_replaces_the_one_before(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "sweep.png"
    path.write_bytes(b"old")
    require_matplotlib(path)
    plot(TUNING, path)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["sweep", "sweep.mp4", "nowhere/sweep.png"])
def test_plot_that_cannot_be_drawn_is_refused_before(tmp_path: Path, name: str) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(OptionError, match=r"^cannot plot into "):
        require_matplotlib(tmp_path / name)


def test_missing_matplotlib_is_one_line_that_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    with pytest.raises(Unsupported, match=r"^a plot needs matplotlib .*pip install 'pytest-videodecode\[plot\]'$"):
        require_matplotlib(Path("sweep.png"))
