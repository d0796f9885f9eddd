"""What a result says: thrash and what to change; many results as one table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from made_up_results import result
from streaming_benchmark.diagnose import diagnose, thrashes
from streaming_benchmark.errors import BenchmarkError
from streaming_benchmark.main import main
from streaming_benchmark.metrics import CacheMetrics
from streaming_benchmark.nodes import Place
from streaming_benchmark.result import write_result
from streaming_benchmark.summarize import against_single, find_results, markdown_table, rows

THRASH: dict[str, Any] = {
    "video_decoder_cache": CacheMetrics(hits=20, misses=80, evictions=76, hit_rate=0.2, size=4),
    "p50_sample_latency_ms": 2.0,
    "p99_sample_latency_ms": 90.0,
}


def test_thrash_is_told_with_what_to_change() -> None:
    first = next(diagnose(result("--video_decoder_cache_size", "4", "--num_workers", "8", **THRASH)))

    assert first == (
        "decoder thrash: hit rate 20% with p99 90 ms (median 2), and 76 evictions; raise --video_decoder_cache_size "
        "(now 4) or --buffer_size (now 1000), or lower --num_workers (now 8)"
    )


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {**THRASH, "p99_sample_latency_ms": 4.0},
        {**THRASH, "video_decoder_cache": CacheMetrics(hits=95, misses=5, evictions=5, hit_rate=0.95, size=4)},
        {**THRASH, "video_decoder_cache": CacheMetrics(hits=2, misses=8, evictions=0, hit_rate=0.2, size=8)},
        {**THRASH, "video_decoder_cache": CacheMetrics()},
    ],
    ids=["warm", "short-tail", "high-hit-rate", "filling", "unknown"],
)
def test_other_results_are_no_thrash(changes: dict[str, Any]) -> None:
    assert not thrashes(result(**changes))


@pytest.mark.parametrize(
    ("words", "changes", "said"),
    [
        (
            "--consumer_step_ms 50",
            {"stall_share": 0.4},
            "a training step of 50 ms would wait for data 40% of the time",
        ),
        ("--consumer_step_ms 50", {"stall_share": 0.01}, "of the time: it keeps up"),
        ("", {"samples_skipped": 3}, "3 samples were skipped because of damaged clips"),
        ("--num_workers 4", {"workers_seen": 1}, "3 of 4 workers gave no batch"),
        ("", {"fetch_share": 0.6}, "60% of the loader's time goes into fetching"),
        ("", {"decode_share": 0.9}, "90% of the loader's time goes into decoding"),
        ("", {"video_decoder_cache": CacheMetrics()}, "decoder cache: unknown"),
    ],
)
def test_other_findings(words: str, changes: dict[str, Any], said: str) -> None:
    assert any(said in finding for finding in diagnose(result(*words.split(), **changes)))


def test_nodes_stand_beside_the_single_one(tmp_path: Path) -> None:
    alone = result(frames_per_s_node=200.0)
    nodes = [
        result(place=Place(rank=n, world_size=2, node=n, nodes=2), frames_per_s_node=each)
        for n, each in enumerate((190.0, 150.0))
    ]
    for each in (*nodes, alone, result("--mode", "sarm")):
        write_result(each, tmp_path)

    found = find_results([str(tmp_path)])

    assert [against_single(each, found) for each in nodes] == [0.95, 0.75]
    shown = [row[6:9] for row in rows(found)]
    assert shown[0] == ["node", "frames/s/node", "vs 1 node"]
    assert ["1/2", "190.0", "0.95"] in shown
    assert ["2/2", "150.0", "0.75"] in shown


def test_table_on_a_page_is_escaped() -> None:
    *_, line = markdown_table([result("--dataset", "x:<img>|y")])

    assert "x:\\<img\\>\\|y" in line


def test_summary_writes_table_and_plots(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    write_result(result(**THRASH), tmp_path / "results")

    assert main(["summarize", str(tmp_path / "results"), "--out_dir", str(tmp_path / "out")]) == 0

    assert "20% thrash" in capsys.readouterr().out
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["frames_per_s.png", "sample_latency.png", "summary.csv", "summary.md"]


def test_nothing_to_summarize_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(BenchmarkError, match="no result files in"):
        find_results([str(tmp_path)])
    with pytest.raises(BenchmarkError, match="there is no "):
        find_results([str(tmp_path / "nowhere")])
