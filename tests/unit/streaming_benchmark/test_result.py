"""Result files: names, form, nothing half-written, nothing believed."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from made_up_results import result
from streaming_benchmark.errors import BenchmarkError
from streaming_benchmark.nodes import Place
from streaming_benchmark.result import read_result, write_result


@pytest.mark.parametrize(
    ("words", "place", "name"),
    [
        ("--source hub --mode sarm --num_workers 12", Place(), "hub_sarm_bs64_w12_cpu"),
        ("--batch_size 8 --num_workers 6 --video_decode_device cuda", Place(), "local_single_bs8_w6_cuda"),
        ("--dataset mylab.data:Loader", Place(), "local_single_bs64_w4_cpu_mylab.data-Loader"),
        ("", Place(rank=1, world_size=2, node=1, nodes=2), "local_single_bs64_w4_cpu_node1of2"),
    ],
)
def test_name_says_what_was_measured(words: str, place: Place, name: str) -> None:
    assert result(*words.split(), place=place).name == name


def test_files_are_read_back(tmp_path: Path) -> None:
    written = result("--mode", "sarm")

    as_json, as_csv = write_result(written, tmp_path / "new")

    assert read_result(as_json) == written
    (row,) = csv.DictReader(as_csv.read_text(encoding="utf-8").splitlines())
    assert float(row["frames_per_s_node"]) == written.metrics.frames_per_s_node
    assert row["video_decoder_cache.hit_rate"] == "0.99"
    assert row["decode_share"] == "", "what was not measured is empty, not 0"
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [as_csv.name, as_json.name]


def test_folder_that_cannot_be_written_to_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("here", encoding="utf-8")

    with pytest.raises(BenchmarkError, match=r"cannot write .*: .*; give another --out_dir"):
        write_result(result(), tmp_path / "file")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": "other/1"}, "the schema is 'other/1'"),
        ({"metrics": {}}, "field 'frames_per_s_node' is missing"),
        ({"extra": 1}, "unknown field 'extra'"),
    ],
)
def test_file_of_another_form_is_refused(tmp_path: Path, change: dict[str, object], said: str) -> None:
    as_json, _ = write_result(result(), tmp_path)
    as_json.write_text(json.dumps({**json.loads(as_json.read_bytes()), **change}), encoding="utf-8")

    with pytest.raises(BenchmarkError, match=said):
        read_result(as_json)


def test_file_that_is_no_json_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{", encoding="utf-8")

    with pytest.raises(BenchmarkError, match="not JSON"):
        read_result(tmp_path / "a.json")
