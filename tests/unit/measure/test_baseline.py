from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from measured import MACHINE, measured

from pytest_videodecode.errors import OptionError
from pytest_videodecode.measure.baseline import Baseline, dumps, entry_of, load, updated

BASELINE = updated(None, [measured(), measured(codec="h264")], MACHINE, 0, {})


def written(folder: Path, **changes: Any) -> Path:
    path = folder / "baseline.json"
    path.write_text(json.dumps({**json.loads(dumps(BASELINE)), **changes}), encoding="utf-8")
    return path


def refused(path: Path) -> str:
    with pytest.raises(OptionError) as caught:
        load(path)
    (line,) = str(caught.value).splitlines()
    return line


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    assert load(written(tmp_path)) == BASELINE


def test_an_entry_has_stable_figures_and_those_of_the_clock_apart() -> None:
    entry = entry_of(measured(threads_peak=12, processes=4), MACHINE, 0)
    assert entry.metrics == {
        "threads_per_process": 3.0,
        "voluntary_switches": 40.0,
        "involuntary_switches": 10.0,
        "decoded_per_sample": 44.0,
        "cpu_per_sample": 0.02,
    }
    assert entry.wall.keys() == {"samples_per_s", "frames_per_s", "p50_s", "p95_s", "p99_s"}


def test_figure_that_could_not_be_seen_is_left_out() -> None:
    assert "decoded_per_sample" not in entry_of(measured(decoded_per_sample=None), MACHINE, 0).metrics


def test_update_replaces_what_was_measured_and_keeps_the_rest() -> None:
    elsewhere = replace(MACHINE, cpu="Another CPU")
    new = updated(BASELINE, [measured(codec="h264", cpu_per_sample_s=0.5), measured(decoder="pyav")], elsewhere, 0, {})

    assert [(entry.decoder, entry.codec, entry.machine.cpu) for entry in new.entries] == [
        ("production", "av1", "Some CPU"),
        ("production", "h264", "Another CPU"),
        ("pyav", "av1", "Another CPU"),
    ]
    assert new.entries[1].metrics["cpu_per_sample"] == 0.5
    assert new.codecs == ("av1", "h264")


def test_update_writes_down_the_limits_given_and_keeps_those_of_before() -> None:
    once = updated(None, [measured()], MACHINE, 0, {"cpu_per_sample": 1.3})
    twice = updated(once, [measured()], MACHINE, 0, {"voluntary_switches": 2.0})
    assert twice.limits == {**Baseline().limits, "cpu_per_sample": 1.3, "voluntary_switches": 2.0}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not JSON"),
        (b"PNG\xff\xfe", "not JSON"),
        (b"[" * 5000, "not JSON"),
        (b"[]", "unknown schema None"),
        (b"{}", "unknown schema None"),
        (b'{"schema": "videodecode-baseline/2"}', "unknown schema 'videodecode-baseline/2', known is"),
        (b'{"schema": ["x"]}', "unknown schema ['x']"),
        (b'{"schema": "videodecode-baseline/1", "more": 1}', "unknown field 'more'"),
        (b'{"schema": "videodecode-baseline/1", "limits": {"cpu_per_sample": "high"}}', "expected float, got str"),
        (b'{"schema": "videodecode-baseline/1", "limits": {"cpu_per_sample": "nan"}}', "give a number above 0"),
        (b'{"schema": "videodecode-baseline/1", "limits": {"cpu": 1}}', "'cpu' is no metric of the gate"),
        (b" " * (5 << 20), "more than the 4 MiB"),
    ],
)
def test_file_that_is_no_baseline_is_refused_in_one_line(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "baseline.json"
    path.write_bytes(content)
    assert said in refused(path)


def test_figures_that_nothing_can_be_compared_with_are_refused(tmp_path: Path) -> None:
    entry = json.loads(dumps(BASELINE))["entries"][0]
    path = written(tmp_path, entries=[{**entry, "metrics": {"cpu_per_sample": "nan"}}])
    assert "cpu_per_sample is nan" in refused(path)


def test_missing_file_says_how_to_make_one(tmp_path: Path) -> None:
    assert "make it with --videodecode-update-baseline" in refused(tmp_path / "none.json")


def test_folder_is_no_baseline(tmp_path: Path) -> None:
    assert "cannot read the baseline" in refused(tmp_path)
