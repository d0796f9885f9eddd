from __future__ import annotations

import csv
import io

from measured import measured

from pytest_videodecode.measurement import Measurement
from pytest_videodecode.reports.throughput_csv import throughput_csv


def read(*measurements: Measurement) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(throughput_csv(measurements))))


def test_one_row_a_measurement_with_raw_figures() -> None:
    first, second = read(measured(), measured(decoder='mylab:f,option="a"', codec="h264", lost=("seat 0: hang",)))
    assert (first["decoder"], first["samples_per_s"], first["steady_s"], first["lost"]) == (
        "production",
        "100.0",
        "0.015",
        "0",
    )
    assert (second["decoder"], second["codec"], second["lost"]) == ('mylab:f,option="a"', "h264", "1")


def test_what_was_not_measured_is_empty() -> None:
    (row,) = read(measured(split=None, decoded_per_sample=None))
    assert (row["open_s"], row["decoded_per_sample"]) == ("", "")


def test_header_stands_alone_where_nothing_was_measured() -> None:
    assert throughput_csv(()).startswith("decoder,codec,")
    assert read() == []


def test_text_is_no_formula_to_a_spreadsheet() -> None:
    (row,) = read(measured(decoder="=cmd|' /C calc'!A0"))
    assert row["decoder"].startswith("'=")
