"""The parent's side: one process per request, watched, and ended from outside with everything it started."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest_videodecode
from pytest_videodecode.decoders.spec import DecoderSpec
from pytest_videodecode.errors import DeadlinePassed, FormError, WorkerError
from pytest_videodecode.isolation.kill import TOKEN, kill_tree
from pytest_videodecode.jsonform import MAX_TEXT, from_json, to_json
from pytest_videodecode.loaders.child import STACKS_SIGNAL
from pytest_videodecode.loaders.wire import Call, End
from pytest_videodecode.loading import Loaded, LoadRequest, Sample
from pytest_videodecode.model import OutcomeKind

#: Importing torch and starting workers may take so long before the first sample counts as late.
START_S = 90.0

_TICK_S = 0.02
_STACKS_S = 0.3
_MAX_LOG = 1 << 16


@dataclass(slots=True)
class _Reply:
    """The lines of a reply file as they come."""

    samples: list[Sample] = field(default_factory=list)
    end: End | None = None
    ready: bool = False
    size: int = 0
    rest: str = ""

    def take(self, text: str) -> None:
        self.size += len(text)
        if self.size > MAX_TEXT:
            raise FormError(f"more than {MAX_TEXT} characters of samples")
        *lines, self.rest = (self.rest + text).split("\n")
        for line in lines:
            try:
                told: dict[str, Any] = json.loads(line)
            except ValueError as error:
                raise FormError(f"not JSON ({error})") from None
            if "sample" in told:
                self.samples.append(from_json(Sample, told["sample"]))
            elif "end" in told:
                self.end = from_json(End, told["end"])
            else:
                self.ready = True


def load(
    spec: DecoderSpec,
    request: LoadRequest,
    cameras: Sequence[str],
    limit_s: float,
    *,
    sys_path: Sequence[str] = (),
    deadline: float | None = None,
) -> Loaded:
    """Serve ``request`` by the loader ``spec`` (``target`` is ``module:Class``) in a new process.

    A process that gives no sample for ``limit_s`` seconds, and does not end, hangs; before the first sample it has
    ``START_S`` more. Whatever the loader does comes back as ``Loaded``. ``sys_path`` is where the process finds
    modules, if it is of this interpreter.

    Raises:
        DeadlinePassed: the limit of the test that runs now, ``deadline`` on the clock of ``time.monotonic``, passed.
        WorkerError: the interpreter cannot be started, or the process ends before it is ready.
    """
    with TemporaryDirectory(prefix="videodecode-loader-", ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch)
        call = Call(target=spec.target, request=request, cameras=tuple(cameras), options=spec.options)
        (folder / "request.json").write_text(json.dumps(to_json(call)), encoding="utf-8")
        (folder / "reply.jsonl").touch()
        token = secrets.token_hex(8)
        with (folder / "log.txt").open("wb") as log:
            process = _start(spec, folder, log.fileno(), _environment(spec, request, folder, token, sys_path))
        try:
            return _watch(process, folder, limit_s, None if deadline is None else deadline - _STACKS_S)
        except DeadlinePassed as error:
            raise DeadlinePassed(f"{error} while the loader {spec} was asked for {request}") from None
        except FormError as error:
            return Loaded(kind=OutcomeKind.CRASH, signal=f"garbage from its process: {error}", log=_log(folder))
        finally:
            # once it was waited for, its number may be another's
            kill_tree(process.pid if process.returncode is None else None, token)
            process.wait()


def _environment(
    spec: DecoderSpec, request: LoadRequest, folder: Path, token: str, sys_path: Sequence[str]
) -> dict[str, str]:
    path = [*sys_path, os.getcwd()]
    if spec.python:  # another interpreter has its own path, and is to see this one package, no other of ours
        package = Path(pytest_videodecode.__file__).parent
        (folder / "path").mkdir()
        (folder / "path" / package.name).symlink_to(package)
        path = [str(folder / "path")]
    place = {"RANK": request.rank, "WORLD_SIZE": request.world_size, "LOCAL_RANK": 0, "LOCAL_WORLD_SIZE": 1}
    return {
        **os.environ,
        TOKEN: token,
        "PYTHONPATH": os.pathsep.join(filter(None, path)),
        **{name: str(value) for name, value in place.items()},
    }


def _start(spec: DecoderSpec, folder: Path, log: int, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    python = os.path.abspath(os.path.expanduser(spec.python)) if spec.python else sys.executable
    files = (str(folder / name) for name in ("request.json", "reply.jsonl"))
    try:
        return subprocess.Popen(
            [python, "-m", "pytest_videodecode.loaders.child", *files],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            env=environment,
        )
    except OSError as error:
        raise WorkerError(
            f"cannot start {python}: {error.strerror}; name the interpreter as LOADER@/path/to/python"
        ) from None


def _watch(process: subprocess.Popen[bytes], folder: Path, limit_s: float, deadline: float | None) -> Loaded:
    reply = _Reply()
    since = time.monotonic()
    with (folder / "reply.jsonl").open(encoding="utf-8", newline="\n") as lines:
        while True:
            ended = process.poll() is not None
            if text := lines.read():
                reply.take(text)
                since = time.monotonic()
            elif ended:
                break
            elif time.monotonic() - since >= (limit_s if reply.samples else START_S + limit_s):
                with suppress(ProcessLookupError):
                    os.kill(process.pid, STACKS_SIGNAL)
                    time.sleep(_STACKS_S)
                return _loaded(reply, OutcomeKind.HANG, folder, limit_s=limit_s)
            elif deadline is not None and time.monotonic() >= deadline:
                raise DeadlinePassed(f"the time limit of the test came after {len(reply.samples)} samples")
            else:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_TICK_S)
    if reply.end is None or process.returncode:
        if not reply.ready and reply.end is None and process.returncode > 0:
            last = _log(folder).strip().rpartition("\n")[2] or "it said nothing"
            raise WorkerError(f"the process of the loader ended before it was ready: {last}")
        return _loaded(reply, OutcomeKind.CRASH, folder, signal=_status(process.returncode))
    if reply.end.error is None:
        return _loaded(reply, OutcomeKind.FRAMES, folder)
    return _loaded(reply, OutcomeKind.PARTIAL if reply.samples else OutcomeKind.ERROR, folder)


def _loaded(reply: _Reply, kind: OutcomeKind, folder: Path, *, limit_s: float = 0.0, signal: str = "") -> Loaded:
    end = reply.end or End()
    return Loaded(
        kind=kind,
        samples=tuple(reply.samples),
        error=end.error,
        takes=end.takes,
        resumes=end.resumes,
        limit_s=limit_s,
        signal=signal,
        log=_log(folder),
    )


def _log(folder: Path) -> str:
    with (folder / "log.txt").open("rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - _MAX_LOG))
        return file.read().decode("utf-8", errors="replace")


def _status(returncode: int) -> str:
    return signal.Signals(-returncode).name if returncode < 0 else f"exit status {returncode}"
