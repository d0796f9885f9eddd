from __future__ import annotations

import json

import pytest
from measured import MACHINE, compared, measured

from pytest_videodecode.measurement import Direction, Regression
from pytest_videodecode.reports.throughput import COLUMNS, SCHEMA, Throughput, rows, throughput_json, throughput_lines

REGRESSION = Regression(metric="cpu_per_sample", decoder="pyav", codec="av1", before=1.0, now=2.0, limit=1.25)


def lines(**fields: object) -> list[str]:
    return list(throughput_lines(Throughput(machine=MACHINE, **fields)))  # type: ignore[arg-type]


def test_table_has_a_row_for_each_measurement_in_the_units_it_names() -> None:
    (row,) = rows([measured()])
    assert dict(zip(COLUMNS, row, strict=True)) == {
        "decoder": "production",
        "codec": "av1",
        "samples/s": "100.0",
        "frames/s": "1800",
        "CPU ms": "20.0",
        "switches": "40+10",
        "decoded": "44.0",
        "threads": "12",
        "RSS MiB": "64",
        "p50 ms": "30.0",
        "p95 ms": "50.0",
        "p99 ms": "60.0",
        "alone ms": "15.0",
        "pixels": "identical",
    }


def test_columns_stand_below_their_names_however_long_a_decoder_is() -> None:
    _, header, *table = lines(measurements=(measured(), measured(decoder="mylab.video_io:decode_video_frames")))[:4]
    assert {len(line) for line in (header, *table)} == {len(header)}


def test_what_was_not_measured_is_a_dash() -> None:
    (row,) = rows([measured(decoded_per_sample=None, split=None)])
    assert (row[COLUMNS.index("decoded")], row[COLUMNS.index("alone ms")]) == ("-", "-")


def test_latency_alone_stands_beside_the_throughput() -> None:
    assert "alone, production on av1: open 4.0 ms, first frame 2.0 ms, sample 15.0 ms" in lines(
        measurements=(measured(),)
    )


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        (
            {"measurements": (measured(lost=("seat 3: crash (SIGSEGV)",)),)},
            "production on av1: lost seat 3: crash (SI",
        ),
        ({"measurements": (measured(identical=False),)}, "pixels of production on av1 are not the same everywhere"),
        ({"regressions": (REGRESSION,)}, "cpu_per_sample of pyav on av1: was 1, now 2, limit 1.25 (stable)"),
        ({"failed": ("vp9: required, but unsupported",)}, "vp9: required, but unsupported"),
    ],
)
def test_fault_is_one_line_and_the_last(fields: dict[str, object], fault: str) -> None:
    assert lines(**fields)[-1].startswith(f"FAILED {fault}")


def test_all_is_well_without_faults() -> None:
    report = Throughput(machine=MACHINE, measurements=(measured(),), notes=("a note",), unsupported=("vp9: none",))
    assert report.faults == []
    assert not any("FAILED" in line for line in throughput_lines(report))


def test_comparison_says_direction_size_and_interval() -> None:
    assert lines(comparisons={"av1": (compared(),)}) == [
        "production against production@base on av1: slower, by 7.0% at least "
        "(throughput x 0.900, 95% interval 0.870 to 0.930, 40 interleaved pairs)"
    ]
    same = compared(direction=Direction.NO_DIFFERENCE, at_least=0.0, ratio=1.0)
    assert "on av1: no difference (throughput x 1.000" in lines(comparisons={"av1": (same,)})[0]


def test_json_has_everything_but_the_latencies_and_only_builtin_types() -> None:
    report = Throughput(
        machine=MACHINE, measurements=(measured(),), comparisons={"av1": (compared(),)}, regressions=(REGRESSION,)
    )
    data = json.loads(throughput_json(report, {"cores": 2}, 7))
    assert (data["schema"], data["seed"], data["environment"]) == (SCHEMA, 7, {"cores": 2})
    assert data["machine"]["cpu"] == "Some CPU"
    assert data["measurements"][0]["split"]["steady_s"] == 0.015
    assert "latencies_s" not in data["measurements"][0]
    assert data["comparisons"]["av1"][0]["direction"] == "slower"
    assert data["regressions"][0]["limit"] == 1.25
