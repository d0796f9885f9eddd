"""The process that makes clips (started by ``clips.job``): a job on standard input, a reply on standard output.

Encoders and demuxers run here, not in the process of the tests: they print, start threads, and may crash.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pytest_videodecode import jsonform
from pytest_videodecode.clips.job import Job, Reply
from pytest_videodecode.clips.truth import Truth
from pytest_videodecode.errors import ClipError, Unsupported


def do(job: Job) -> Truth:
    """Make the clip, or look at the real file, that ``job`` names."""
    path = Path(job.path)
    if job.spec is None:
        from pytest_videodecode.clips.reference import look

        return look(path)
    from pytest_videodecode.clips import probe, synthesis

    synthesis.write(job.spec, path)
    return probe.probe(job.spec, path)


def main() -> None:
    """Serve one job."""
    job = jsonform.loads(Job, sys.stdin.buffer.read(), "job")
    try:
        reply = Reply(truth=do(job))
    except Unsupported as error:
        reply = Reply(unsupported=str(error))
    except ClipError as error:
        reply = Reply(fault=str(error))
    json.dump(jsonform.to_json(reply), sys.stdout)
