from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from measured import compared

from pytest_videodecode import measuring
from pytest_videodecode.errors import WorkerError
from pytest_videodecode.measure.baseline import load
from pytest_videodecode.measurement import Comparison, Direction, Seat, Split
from pytest_videodecode.measuring import Measuring, Pair
from pytest_videodecode.options import Settings

SPLIT = Split(open_s=0.1, first_frame_s=0.1, steady_s=0.1)
SEAT = Seat(
    seat=0,
    samples=2,
    frames=36,
    wall_s=1.0,
    cpu_s=0.5,
    threads_peak=3,
    decoded_frames=48,
    latencies_s=(0.5, 0.5),
)


def pair(decoder: str = "pyav", codec: str = "av1") -> Pair:
    return Pair(decoder=decoder, codec=codec, sample="a sample", split=SPLIT, versions={"av": "18.1.0"})


def measuring_of(*pairs: Pair, update: bool = False, seats: tuple[Seat, ...] = (SEAT,), **settings: Any) -> Measuring:
    """One whose pairs have been measured, with ``seats`` for each."""
    decoders = tuple(dict.fromkeys(each.decoder for each in pairs))
    one = Measuring(settings=Settings(decoder=decoders, **settings), processes=len(seats), update=update)
    one.check()
    for each in pairs:
        one.pairs.append(each)
        one.add_up(each, seats)
    return one


@pytest.fixture
def base(tmp_path: Path) -> str:
    """The baseline of pyav on av1, as ``SEAT`` has it."""
    path = str(tmp_path / "base.json")
    measuring_of(pair(), update=True, baseline=path).conclude()
    return path


def test_seats_taken_elsewhere_are_added_up_with_the_latency_of_one_alone() -> None:
    report = measuring_of(pair(), seats=(SEAT, Seat(seat=1, lost="xdist's process gw1 died"))).conclude()
    (one,) = report.measurements
    assert (one.samples, one.processes, one.split) == (2, 2, SPLIT)
    assert report.faults == ["pyav on av1: lost seat 1: xdist's process gw1 died"]


def test_pair_whose_seats_are_all_lost_is_a_failure_and_the_others_stay() -> None:
    one = measuring_of(pair())
    one.add_up(pair(codec="h264"), [Seat(seat=0, lost="hang")])
    report = one.conclude()
    assert [each.codec for each in report.measurements] == ["av1"]
    assert report.faults == ["pyav on h264: no seat decoded a sample; seat 0: hang"]


def test_the_same_again_passes_its_baseline(base: str) -> None:
    report = measuring_of(pair(), baseline=base).conclude()
    assert report.faults == []
    assert report.gates == (f"4 stable figures against the baseline {base}: no regression",)


def test_update_adds_to_what_is_there(base: str) -> None:
    report = measuring_of(pair(codec="h264"), pair(decoder="production"), update=True, baseline=base).conclude()
    assert report.gates == (f"{base} written: av1, h264",)
    assert [(entry.decoder, entry.codec) for entry in load(Path(base)).entries] == [
        ("pyav", "av1"),
        ("pyav", "h264"),
        ("production", "av1"),
    ]


def test_update_after_a_fault_leaves_the_file_as_it_was(base: str) -> None:
    before = Path(base).read_bytes()
    report = measuring_of(
        pair(), seats=(SEAT, Seat(seat=1, lost="crash (SIGSEGV)")), update=True, baseline=base
    ).conclude()
    assert Path(base).read_bytes() == before
    assert report.gates == (f"the baseline {base} is left as it was, for what failed",)


def test_gate_that_can_compare_nothing_fails(base: str) -> None:
    report = measuring_of(pair(codec="h264"), baseline=base).conclude()
    assert report.faults == [f"nothing could be compared with the baseline {base}"]
    assert measuring_of(baseline=base).conclude().faults == [f"nothing was measured for {base}"]


@pytest.mark.parametrize(
    ("came", "faults"),
    [
        (compared(direction=Direction.NO_DIFFERENCE, at_least=0.0), []),
        (compared(direction=Direction.UNDECIDED, at_least=0.0), []),
        (compared(), ["throughput of production on av1: was 1, now 0.9, limit 1 (wall, interleaved with p"]),
        (WorkerError("it died"), ["pyav on av1 against pyav,threads=1: it died"]),
    ],
    ids=["no difference", "undecided", "slower", "died"],
)
def test_only_the_first_decoder_is_compared_and_what_comes_decides(
    monkeypatch: pytest.MonkeyPatch, came: Comparison | WorkerError, faults: list[str]
) -> None:
    asked = []

    def fake(before: str, after: str, codec: str, processes: int, settings: Settings) -> tuple[Comparison, ...]:
        asked.append((before, after, codec, processes))
        if isinstance(came, WorkerError):
            raise came
        return (came,)

    monkeypatch.setattr(measuring, "interleaved", fake)
    one = measuring_of(pair(), pair(decoder="production"))
    one.settings = Settings(decoder=("pyav", "production"), against="pyav,threads=1")
    report = one.conclude()

    assert asked == [("pyav,threads=1", "pyav", "av1", 1)]
    assert len(report.faults) == len(faults)
    assert all(line.startswith(start) for line, start in zip(report.faults, faults, strict=True))


@pytest.mark.parametrize(("require", "faults"), [((), 0), (("lerobot",), 1), (("mpeg4",), 1), (("all",), 1)])
def test_what_is_unsupported_is_told_of_and_fails_where_it_is_required(require: tuple[str, ...], faults: int) -> None:
    one = Measuring(settings=Settings(decoder=("lerobot",), codecs=("mpeg4:gop=4",), require=require), processes=1)
    one.prepare()
    report = one.conclude()
    assert one.pairs == []
    assert len(report.faults) == faults
    assert len(report.unsupported) == 1 - faults
    assert "lerobot on mpeg4:gop=4: " in [*report.faults, *report.unsupported][0]


def test_files_are_those_that_the_settings_name(tmp_path: Path) -> None:
    bench = tmp_path / "new" / "bench.json"
    one = measuring_of(pair(), report=str(tmp_path / "out"), benchmark_json=str(bench))
    assert one.write(one.conclude()) == [
        tmp_path / "out" / "throughput.json",
        tmp_path / "out" / "throughput.csv",
        bench,
    ]
    assert json.loads(bench.read_text(encoding="utf-8"))["benchmarks"][0]["stats"]["rounds"] == 2
    assert measuring_of(pair()).write(one.conclude()) == []
