"""Loaders in processes of their own: what they give, and every way in which they do not."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import psutil
import pytest

from pytest_videodecode.datasets.make import make_dataset
from pytest_videodecode.datasets.truth import DatasetTruth
from pytest_videodecode.errors import DeadlinePassed, WorkerError
from pytest_videodecode.loaders.process import load
from pytest_videodecode.loaders.spec import parse
from pytest_videodecode.loading import Loaded, LoadRequest
from pytest_videodecode.model import OutcomeKind

SUPPORT = str(Path(__file__).parents[2] / "support")


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> DatasetTruth:
    folder = tmp_path_factory.mktemp("loaders") / "dataset"
    return make_dataset(folder, cameras=("front",), episodes=2, frames_per_episode=6, size=(64, 64), textured=False)


def served(truth: DatasetTruth, loader: str, limit_s: float = 20.0, **request: object) -> Loaded:
    asked = LoadRequest(root=truth.folder, **request)  # type: ignore[arg-type]
    return load(parse(f"planted_loaders:{loader}"), asked, truth.keys, limit_s, sys_path=[SUPPORT, *sys.path])


def test_samples_come_with_what_their_pictures_show(truth: DatasetTruth) -> None:
    loaded = served(truth, "Good", windows={truth.keys[0]: (-0.05, 0.0)}, shuffle=False)

    assert loaded.kind is OutcomeKind.FRAMES
    assert [sample.key for sample in loaded.samples] == list(truth.samples())
    assert loaded.samples[0].shown == {truth.keys[0]: ((0, 0, 0), (0, 0, 0))}
    assert loaded.samples[0].pads == {truth.keys[0]: (True, False)}
    assert loaded.samples[7].shown == {truth.keys[0]: ((1, 0, 0), (1, 0, 1))}
    assert loaded.resumes
    assert "on_damage" in loaded.takes


def test_workers_of_a_data_loader_are_observed_in_place(truth: DatasetTruth) -> None:
    loaded = served(truth, "Good", workers=2)

    assert sorted(sample.key for sample in loaded.samples) == list(truth.samples())


def test_hang_keeps_what_came_and_leaves_no_process(truth: DatasetTruth) -> None:
    loaded = served(truth, "Hangs", limit_s=0.5)

    assert loaded.kind is OutcomeKind.HANG
    assert str(loaded) == "4 samples, then nothing for 0.5 s"
    (pid,) = [int(line.split()[1]) for line in loaded.log.splitlines() if line.startswith("hanging: ")]
    assert not psutil.pid_exists(pid)
    assert "planted_loaders.py" in loaded.log, "its Python stack"


def test_crash_is_named_by_its_signal(truth: DatasetTruth) -> None:
    loaded = served(truth, "Crashes")

    assert loaded.kind is OutcomeKind.CRASH
    assert str(loaded) == "4 samples, then a crash (SIGSEGV)"


def test_error_after_samples_is_partial(truth: DatasetTruth) -> None:
    loaded = served(truth, "RaisesAtTheLast", shuffle=False)

    assert loaded.kind is OutcomeKind.PARTIAL
    assert str(loaded) == "11 samples, then IndexError: list index out of range"


def test_error_in_a_worker_is_told_in_one_line(truth: DatasetTruth) -> None:
    loaded = served(truth, "ForkOnly", workers=1, start_method="spawn")

    assert loaded.kind is OutcomeKind.ERROR
    assert "pickle" in str(loaded)
    assert "\n" not in str(loaded)


def test_state_is_taken_up_by_a_second_loader(truth: DatasetTruth) -> None:
    whole, resumed = served(truth, "Good"), served(truth, "Good", resume_at=5)

    assert [sample.key for sample in resumed.samples] == [sample.key for sample in whole.samples]


def test_module_that_is_not_there_is_an_error_of_the_spec(truth: DatasetTruth) -> None:
    asked = LoadRequest(root=truth.folder)

    loaded = load(parse("no_such_module:Loader"), asked, truth.keys, 20.0)

    assert loaded.kind is OutcomeKind.ERROR
    assert loaded.error
    assert loaded.error.type == "LoaderSpecError"
    assert "no_such_module" in loaded.error.message


def test_interpreter_that_is_not_there_is_said_so(truth: DatasetTruth) -> None:
    with pytest.raises(WorkerError, match="cannot start /no/such/python: No such file or directory; name the interp"):
        load(parse("production@/no/such/python"), LoadRequest(root=truth.folder), truth.keys, 20.0)


def test_limit_of_the_test_ends_a_load(truth: DatasetTruth) -> None:
    spec, asked = parse("planted_loaders:Hangs"), LoadRequest(root=truth.folder)

    with pytest.raises(DeadlinePassed, match="the time limit of the test came after"):
        load(spec, asked, truth.keys, 20.0, sys_path=[SUPPORT, *sys.path], deadline=time.monotonic() + 1)


def test_place_of_a_launcher_is_not_handed_on(truth: DatasetTruth, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "RANK", "3")
    monkeypatch.setitem(os.environ, "WORLD_SIZE", "4")

    loaded = served(truth, "ReadsTheEnvironment")

    assert sorted(sample.key for sample in loaded.samples) == list(truth.samples())
