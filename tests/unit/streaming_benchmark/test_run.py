"""The benchmark itself, on a small data set: its files, its nodes, and its one line when something is wrong."""

from __future__ import annotations

import csv
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streaming_benchmark.describe import windows
from streaming_benchmark.main import main
from streaming_benchmark.nodes import Place, place
from streaming_benchmark.timing import count_frames, count_padded

from pytest_videodecode.datasets.truth import DatasetTruth

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "streaming" / "benchmark_streaming.py"
SMALL = [
    "--batch_size",
    "4",
    "--num_batches",
    "6",
    "--warmup_batches",
    "2",
    "--buffer_size",
    "8",
    "--num_workers",
    "0",
]


def read(folder: Path, name: str) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads((folder / f"{name}.json").read_bytes())
    return whole


@pytest.mark.parametrize("loader", ["production", "standin,backend=pyav"])
def test_sarm_decodes_eight_frames_of_every_camera(dataset: DatasetTruth, tmp_path: Path, loader: str) -> None:
    words = ["--root", dataset.folder, "--mode", "sarm", "--dataset", loader, "--out_dir", str(tmp_path), *SMALL]

    assert main(words) == 0

    name = "local_sarm_bs4_w0_cpu" + ("" if loader == "production" else "_standin-backend-pyav")
    metrics = read(tmp_path, name)["metrics"]
    assert (metrics["samples"], metrics["frames"]) == (24, 24 * 2 * 8)
    ratio = metrics["frames_per_s_node"] / metrics["samples_per_s"]
    assert ratio == pytest.approx(16)
    assert 0 < metrics["padded_share"] < 1
    cache = metrics["video_decoder_cache"]
    assert cache["hits"] > 0
    assert cache["size"] > 0
    (row,) = csv.DictReader((tmp_path / f"{name}.csv").read_text(encoding="utf-8").splitlines())
    assert float(row["frames"]) == metrics["frames"]


def test_workers_time_their_own_samples(
    dataset: DatasetTruth, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--root", dataset.folder, *SMALL[:-1], "2", "--out_dir", str(tmp_path), "--consumer_step_ms", "5"]

    assert main(words) == 0

    metrics = read(tmp_path, "local_single_bs4_w2_cpu")["metrics"]
    assert metrics["workers_seen"] == 2
    assert metrics["frames"] == 24 * 2
    assert metrics["p99_sample_latency_ms"] >= metrics["p50_sample_latency_ms"] > 0
    assert metrics["peak_rss_worker_mib"] > 10
    assert metrics["wallclock_s"] >= 6 * 0.005
    assert "a training step of 5 ms" in capsys.readouterr().out


def test_windows_of_sarm_are_for_every_camera_a_second_apart() -> None:
    seconds = [-7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0]

    assert windows("sarm", ("front", "wrist")) == {"front": seconds, "wrist": seconds}
    assert windows("single", ("front",)) is None


def test_frames_and_padding_are_counted_off_the_samples() -> None:
    one = {"front": np.zeros((3, 8, 8)), "wrist": np.zeros((5, 3, 8, 8)), "wrist_is_pad": np.array([1, 1, 0, 0, 0])}

    assert count_frames([one, one], ("front", "wrist")) == 2 * (1 + 5)
    assert count_padded([one, one], ("front", "wrist")) == 4


def test_two_nodes_write_a_file_each_and_know_each_other(dataset: DatasetTruth, tmp_path: Path) -> None:
    ran = _nodes(2, ["--root", dataset.folder, "--out_dir", str(tmp_path), *SMALL])

    assert [status for status, _ in ran] == [0, 0], ran
    results = [read(tmp_path, f"local_single_bs4_w0_cpu_node{node}of2") for node in range(2)]
    speeds = [result["metrics"]["frames_per_s_node"] for result in results]
    assert [result["frames_per_s_by_node"] for result in results] == [speeds, speeds]
    assert [result["place"]["rank"] for result in results] == [0, 1]
    assert len(list(tmp_path.iterdir())) == 4


def test_node_that_fails_ends_the_other_and_nothing_is_written(dataset: DatasetTruth, tmp_path: Path) -> None:
    words = ["--out_dir", str(tmp_path / "out"), *SMALL]

    ran = _nodes(2, words, ["--root", dataset.folder], ["--root", str(tmp_path / "nowhere")])

    assert [status for status, _ in ran] == [1, 1]
    assert "rank 1 failed, so nothing is written: " in ran[0][1]
    assert "nowhere is no LeRobot v3 data set" in ran[0][1]
    assert not (tmp_path / "out").exists()


def _nodes(nodes: int, words: list[str], *own: list[str]) -> list[tuple[int, str]]:
    """As many process groups on loopback; exit status and standard error of each."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    source = str(Path(sys.modules["pytest_videodecode"].__path__[0]).parent)
    processes = []
    for node in range(nodes):
        places = {"RANK": node, "WORLD_SIZE": nodes, "LOCAL_RANK": 0, "LOCAL_WORLD_SIZE": 1, "MASTER_PORT": port}
        environment = {**os.environ, "PYTHONPATH": source, "MASTER_ADDR": "127.0.0.1"}
        processes.append(
            subprocess.Popen(
                [sys.executable, str(SCRIPT), *words, *(own[node] if own else [])],
                env={**environment, **{name: str(value) for name, value in places.items()}},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        )
    ended = [(process.communicate(timeout=120)[1], process.returncode) for process in processes]
    return [(status, said) for said, status in ended]


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, Place()),
        (
            {"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2"},
            Place(rank=3, world_size=4, local_rank=1, local_world_size=2, node=1, nodes=2),
        ),
    ],
)
def test_place_is_that_of_the_launcher(environment: dict[str, str], expected: Place) -> None:
    assert place(environment) == expected


def _info(folder: Path, **changes: Any) -> str:
    features = {"observation.images.front": {"dtype": "video", "shape": [64, 64, 3]}}
    info = {"codebase_version": "v3.0", "fps": 10, "features": features, **changes}
    (folder / "meta").mkdir()
    (folder / "meta" / "info.json").write_text(json.dumps(info), encoding="utf-8")
    return str(folder)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"codebase_version": "v2.1"}, "is no LeRobot v3 data set: its version is v2.1; convert it to v3.0"),
        ({"features": {}}, "has no video: no feature of meta/info.json has the dtype 'video'"),
        ({"features": None}, "is no LeRobot v3 data set: meta/info.json lacks"),
        ({"fps": -1}, "says -1 frames per second"),
        ({}, "loader production: "),
    ],
    ids=["v2", "no-camera", "no-features", "fps", "no-tables"],
)
def test_data_set_that_is_none_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], changes: dict[str, Any], said: str
) -> None:
    root = _info(tmp_path, **changes)

    assert main(["--root", root, "--out_dir", str(tmp_path / "out"), *SMALL]) == 1

    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--dataset", "mylab:NoLoader"], "--dataset: loader mylab:NoLoader: cannot import mylab"),
        (["--dataset", "prodcution"], "--dataset: loader 'prodcution' is unknown"),
        (["--dataset", "standin,backend=magic"], "ValueError: backend is 'magic'; give torchcodec or pyav"),
        (["--device", "cuda"], "--device cuda: this machine has no CUDA device that torch can use; give cpu"),
        (["--video_decode_device", "cuda"], "--video_decode_device cuda: this machine has no CUDA device"),
        (["--root", "no-such-scheme://x"], "cannot read meta/info.json of no-such-scheme://x: ValueError"),
        (["--root", "nowhere"], "nowhere is no LeRobot v3 data set: there is no meta/info.json"),
    ],
)
def test_what_cannot_be_measured_is_one_line(
    dataset: DatasetTruth, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    import torch

    if "cuda" in words and torch.cuda.is_available():
        pytest.skip("there is a CUDA device")

    assert main(["--root", dataset.folder, "--out_dir", str(tmp_path / "out"), *SMALL, *words]) == 1

    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("benchmark_streaming: ")
    assert said in line
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "nothing to read: give --repo_id OWNER/NAME, or --root with a folder or URL"),
        (["--root", "x", "--num_batches", "0"], "argument --num_batches: '0' is no whole number from 1"),
        (["--root", "x", "--device", "gpu"], "argument --device: 'gpu' is no device; give cpu, cuda or cuda:N"),
        (["--root", "x", "--consumer_step_ms", "nan"], "'nan': give milliseconds from 0 to 3600000"),
        (["--root", "x", "--batch_timeout_s", "0"], "'0': give seconds above 0"),
        (["--root", "x", "--video_decode_device", "cuda", "--start_method", "fork"], "CUDA cannot be used in forked"),
    ],
)
def test_arguments_that_cannot_be_are_refused(capsys: pytest.CaptureFixture[str], words: list[str], said: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)

    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_spawn_is_used_where_cuda_meets_workers() -> None:
    from made_up_results import asked

    assert asked("--video_decode_device", "cuda", "--num_workers", "2").start_method == "spawn"
    assert asked("--video_decode_device", "cuda", "--num_workers", "0").start_method is None
    assert asked("--num_workers", "2").start_method is None


def test_launcher_without_a_rank_is_refused(
    dataset: DatasetTruth, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")

    assert main(["--root", dataset.folder, *SMALL]) == 1
    assert "MASTER_ADDR is set and RANK is not" in capsys.readouterr().err


def test_hub_that_does_not_answer_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hub = pytest.importorskip("huggingface_hub")
    missing = pytest.importorskip("huggingface_hub.errors").LocalEntryNotFoundError

    def download(*_: object, **__: object) -> None:
        raise missing("cannot find the requested files in the disk cache")

    monkeypatch.setattr(hub, "hf_hub_download", download)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "https://hub.test")

    assert main(["--repo_id", "owner/name", "--out_dir", str(tmp_path / "out"), *SMALL]) == 1

    (line,) = capsys.readouterr().err.splitlines()
    assert "hf://datasets/owner/name cannot be reached: https://hub.test does not answer" in line
    assert not (tmp_path / "out").exists()
