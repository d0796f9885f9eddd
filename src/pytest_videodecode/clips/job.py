"""Work on video files that is done in a short-lived process of its own, and what comes back from it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass

from pytest_videodecode import jsonform
from pytest_videodecode.clips.truth import Truth
from pytest_videodecode.errors import ClipError, FormError, Unsupported
from pytest_videodecode.model import ClipSpec

_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from pytest_videodecode.clips.make import main; main()"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """Make the clip of ``spec`` at ``path``; without a spec, find the truth about the real file ``path``."""

    path: str
    spec: ClipSpec | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """The truth, or why there is none: one line."""

    truth: Truth | None = None
    unsupported: str = ""
    fault: str = ""


def run(job: Job, limit_s: float) -> Truth:
    """Do ``job`` in a process of its own, which is killed with its children after ``limit_s`` seconds.

    Raises:
        ClipError: the job has failed, crashed or not ended in time.
        Unsupported: a library or encoder is missing.
    """
    what = f"clip {job.spec.name}" if job.spec else job.path
    # What can be imported here, and only that, can be imported there.
    command = [sys.executable, "-P", "-c", _PROGRAM, json.dumps([folder for folder in sys.path if folder])]
    environment = {**os.environ, "SVT_LOG": "1"}  # SVT-AV1 has no other switch for what it prints
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    ) as process:
        try:
            output, errors = process.communicate(json.dumps(jsonform.to_json(job)).encode(), timeout=limit_s)
        except subprocess.TimeoutExpired:
            raise ClipError(f"{what}: FFmpeg has not finished within {limit_s:g} s; use a smaller one") from None
        finally:
            # Its session ends with it: FFmpeg's command line may be a child of it.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    try:
        reply = jsonform.loads(Reply, output, "reply")
    except FormError:
        lines = errors.decode("utf-8", "replace").strip().splitlines()
        last = lines[-1] if lines else "no message"
        raise ClipError(f"{what}: its process ended with status {process.returncode} ({last})") from None
    if reply.truth is not None:
        return reply.truth
    raise Unsupported(reply.unsupported) if reply.unsupported else ClipError(reply.fault)
