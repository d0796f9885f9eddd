from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest
import rogue

from pytest_videodecode.decoders.spec import parse
from pytest_videodecode.errors import DecoderSpecError, WorkerError
from pytest_videodecode.isolation.pool import Workers
from pytest_videodecode.isolation.process import Limits
from pytest_videodecode.model import DecodeRequest, Outcome, OutcomeKind

REQUEST = DecodeRequest(path="any.mp4", indices=(0, 1, 2))
LIMITS = Limits(decode_s=0.5, exit_s=0.5, memory=600 << 20)


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[Workers]:
    with Workers(LIMITS, tmp_path / "run" / "journal") as workers:
        yield workers


def ask(workers: Workers, function: str, request: DecodeRequest = REQUEST) -> Outcome:
    return workers.decode(parse(f"rogue:{function}"), request)


def test_frames_come_back_as_they_were(workers: Workers) -> None:
    outcome = ask(workers, "well_behaved")
    assert outcome.kind is OutcomeKind.FRAMES
    assert outcome.frames.shape == (3, 4, 6, 3)
    assert outcome.frames.dtype == np.uint8
    assert outcome.census.wall_s > 0
    assert outcome.census.threads_before == outcome.census.threads_after
    assert outcome.census.fds_before == outcome.census.fds_after


def test_one_process_serves_many_requests(workers: Workers) -> None:
    pids = {ask(workers, "process_id").frames[0, 0, :2].tobytes() for _ in range(5)}
    assert len(pids) == 1


def test_fewer_frames_without_an_error_are_a_silent_loss(workers: Workers) -> None:
    outcome = ask(workers, "too_few")
    assert outcome.kind is OutcomeKind.SILENT_LOSS
    assert outcome.count == 2


@pytest.mark.parametrize(
    ("function", "gil_held", "cpu_bound"),
    [
        ("hangs_with_the_gil", True, False),
        ("hangs_without_the_gil", False, False),
        ("waits_for_ever", False, False),
        ("spins", False, True),
    ],
)
def test_hang_is_told_from_outside(workers: Workers, function: str, gil_held: bool, cpu_bound: bool) -> None:
    outcome = ask(workers, function)
    assert outcome.kind is OutcomeKind.HANG
    assert outcome.hang is not None
    assert outcome.hang.gil_held is gil_held
    assert outcome.hang.cpu_bound is cpu_bound
    assert f"in {function}" in outcome.hang.stacks
    assert "GIL held" in str(outcome) if gil_held else "GIL released" in str(outcome)
    assert ask(workers, "well_behaved").kind is OutcomeKind.FRAMES


def test_next_request_after_a_hang_finds_a_worker_standing_by(
    workers: Workers, new_children: Callable[[], list[psutil.Process]]
) -> None:
    first = ask(workers, "hangs_with_the_gil")
    started = [child for child in new_children() if child.status() != psutil.STATUS_ZOMBIE]
    second = ask(workers, "hangs_with_the_gil")
    assert first.kind is second.kind is OutcomeKind.HANG
    assert len(started) == 1, "the replacement was started before it was asked for"


def test_crash_names_its_signal(workers: Workers) -> None:
    outcome = ask(workers, "crashes")
    assert outcome.kind is OutcomeKind.CRASH
    assert outcome.signal == "SIGSEGV"
    assert "in crashes" in outcome.log, "faulthandler's stack is in the log"


def test_exit_in_mid_decode_is_a_crash(workers: Workers) -> None:
    outcome = ask(workers, "exits")
    assert (outcome.kind, outcome.signal) == (OutcomeKind.CRASH, "exit status 3")


def test_memory_over_the_limit_ends_the_decode(workers: Workers) -> None:
    outcome = workers.decode(parse("rogue:blows_up"), REQUEST, limit_s=60)
    assert outcome.kind is OutcomeKind.OUT_OF_MEMORY
    assert outcome.census.rss_after > LIMITS.memory


def test_memory_error_is_out_of_memory(workers: Workers) -> None:
    outcome = ask(workers, "raises_memory_error")
    assert outcome.kind is OutcomeKind.OUT_OF_MEMORY
    assert outcome.error is not None
    assert outcome.error.type == "MemoryError"


def test_no_descendant_survives_a_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(rogue.PIDS_ENV, str(tmp_path / "pids"))
    with Workers(Limits(decode_s=3)) as workers:
        assert ask(workers, "leaves_grandchildren").kind is OutcomeKind.HANG
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert len(pids) == 3
    _, alive = psutil.wait_procs([psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)], timeout=5)
    assert [process for process in alive if process.status() != psutil.STATUS_ZOMBIE] == []


def test_garbage_in_the_pipe_costs_one_worker(workers: Workers) -> None:
    outcome = ask(workers, "answers_garbage")
    assert outcome.kind is OutcomeKind.CRASH
    assert "garbage" in outcome.signal
    assert ask(workers, "well_behaved").kind is OutcomeKind.FRAMES


def test_chatter_does_not_reach_the_protocol(workers: Workers) -> None:
    assert ask(workers, "talks").kind is OutcomeKind.FRAMES
    assert ask(workers, "talks").kind is OutcomeKind.FRAMES


@pytest.mark.parametrize("function", ["nothing", "generator", "wrong_dtype"])
def test_what_is_no_batch_of_frames_is_one_line(workers: Workers, function: str) -> None:
    outcome = ask(workers, function)
    assert outcome.kind is OutcomeKind.ERROR
    assert outcome.error is not None
    assert outcome.error.type == "DecoderContractError"
    assert "\n" not in outcome.error.message


def test_hang_at_exit_is_found_at_the_end() -> None:
    workers = Workers(LIMITS)
    assert ask(workers, "hangs_at_exit").kind is OutcomeKind.FRAMES
    [(name, hang)] = workers.close()
    assert name == "rogue:hangs_at_exit"
    assert hang.gil_held is True


def test_request_is_on_disk_while_it_is_served(tmp_path: Path) -> None:
    folder = tmp_path / "run" / "journal"
    with Workers(Limits(decode_s=0.3), folder) as workers:
        ask(workers, "hangs_with_the_gil")
        [*written] = folder.glob("*.json")
        [entry] = [json.loads(path.read_text()) for path in written if path.stat().st_size]
        assert entry["decoder"] == "rogue:hangs_with_the_gil"
        assert entry["request"]["indices"] == [0, 1, 2]
    assert not (tmp_path / "run").exists(), "nothing is left when all ended in good order"


def test_interrupt_leaves_no_decode_running(
    workers: Workers, monkeypatch: pytest.MonkeyPatch, new_children: Callable[[], list[psutil.Process]]
) -> None:
    ask(workers, "well_behaved")
    [child] = new_children()

    def interrupt(_: float) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr("pytest_videodecode.isolation.channel.Channel.ready", lambda self, timeout: interrupt(timeout))
    with pytest.raises(KeyboardInterrupt):
        ask(workers, "well_behaved")
    assert not child.is_running()


def test_worker_dies_with_its_parent(tmp_path: Path) -> None:
    script = (
        "import os, psutil, signal\n"
        "from pytest_videodecode.isolation.pool import Workers\n"
        "from pytest_videodecode.decoders.spec import parse\n"
        "workers = Workers()\n"
        "workers.info(parse('pyav'))\n"
        "print(psutil.Process().children()[0].pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    pid = int(done.stdout)
    deadline = time.monotonic() + 5
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline, "the worker outlived its parent"
        os.sched_yield()


def test_fds_return_to_base_after_many_hangs(new_children: Callable[[], list[psutil.Process]]) -> None:
    before = psutil.Process().num_fds()
    with Workers(Limits(decode_s=0.05)) as workers:
        for _ in range(5):
            assert ask(workers, "hangs_with_the_gil").kind is OutcomeKind.HANG
    assert psutil.Process().num_fds() == before
    assert new_children() == []


@pytest.mark.parametrize(
    ("spec", "error", "words"),
    [
        ("pyav@no/such/python", WorkerError, "cannot start .*no/such/python: No such file"),
        ("pyav@/bin/false", WorkerError, "ended before it was ready"),
        ("no_such_module_at_all:function", DecoderSpecError, "no_such_module_at_all"),
        ("rogue:no_such_function", DecoderSpecError, "no_such_function"),
    ],
)
def test_worker_that_cannot_start_says_why(workers: Workers, spec: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        workers.info(parse(spec))
    assert "\n" not in str(caught.value)


def test_interpreter_without_numpy_is_named(workers: Workers, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare")], check=True)
    with pytest.raises(WorkerError, match="needs numpy in its interpreter"):
        workers.info(parse(f"pyav@{tmp_path}/bare/bin/python"))


def test_exit_after_a_request_is_watched(workers: Workers) -> None:
    leaving = replace(REQUEST, then_exit=True)
    fine = ask(workers, "well_behaved", leaving)
    assert fine.kind is OutcomeKind.FRAMES
    assert fine.frames.shape == (3, 4, 6, 3)
    hung = ask(workers, "hangs_when_freed_at_exit", leaving)
    assert hung.kind is OutcomeKind.HANG
    assert hung.hang is not None
    assert (hung.hang.phase, hung.hang.gil_held) == ("exit", True)
    assert ask(workers, "well_behaved").kind is OutcomeKind.FRAMES


def test_crash_at_exit_is_a_crash(workers: Workers) -> None:
    outcome = ask(workers, "crashes_at_exit", replace(REQUEST, then_exit=True))
    assert (outcome.kind, outcome.signal) == (OutcomeKind.CRASH, "SIGSEGV")


def test_mere_folder_of_this_name_does_not_hide_the_package(
    workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare")], check=True)
    (tmp_path / "packages" / "pytest_videodecode" / "data").mkdir(parents=True)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'packages'}{os.pathsep}{Path(np.__file__).parents[1]}")
    assert workers.info(parse(f"pyav@{tmp_path}/bare/bin/python")).versions["numpy"] == np.__version__


def test_installation_there_lends_its_own_reader(
    workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = tmp_path / "branch" / "pytest_videodecode" / "production" / "video_io.py"
    reader.parent.mkdir(parents=True)
    for folder in (reader.parent, reader.parents[1]):
        (folder / "__init__.py").touch()
    reader.write_text(
        "import numpy as np\n"
        "def decode_video_frames(path, indices):\n"
        "    return np.full((len(indices), 2, 2, 3), 77, np.uint8)\n"
    )
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'branch'}")
    outcome = workers.decode(parse(f"production@{sys.executable}"), REQUEST)
    assert outcome.kind is OutcomeKind.FRAMES
    assert (outcome.frames == 77).all()


def test_parent_may_be_the_first_process_of_a_container() -> None:
    namespace = ["unshare", "--fork", "--pid", "--mount-proc"]
    if shutil.which("unshare") is None or subprocess.run([*namespace, "true"], check=False).returncode:
        pytest.skip("no PID namespace can be made here")
    script = (
        "import os\n"
        "from pytest_videodecode.isolation.pool import Workers\n"
        "from pytest_videodecode.decoders.spec import parse\n"
        "with Workers() as workers:\n"
        "    print(os.getpid(), workers.info(parse('pyav')).name)\n"
    )
    done = subprocess.run(
        [*namespace, sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout.split() == ["1", "pyav"], done.stderr
