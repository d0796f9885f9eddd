"""One search in several processes: each has its own seed, all share one database and one store of failures."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO

from pytest_videodecode.errors import WorkerError
from pytest_videodecode.fuzz.search import Seen, Tally
from pytest_videodecode.jsonform import loads, to_json

#: The hidden flag of ``videodecode fuzz`` that has it write what it sees as JSON, one line each.
EVENTS_FLAG = "--events"

_STOP_S = 10.0

# What can be imported here, and only that, can be imported there.
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); "
    "from pytest_videodecode.cli import main; sys.exit(main())"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """What a process of the search says: something it saw or, at its end, what came on one clip."""

    seen: Seen | None = None
    tally: Tally | None = None


def write_event(event: Event, stream: IO[str]) -> None:
    """Write ``event`` as one line."""
    stream.write(json.dumps(to_json(event)) + "\n")
    stream.flush()


def run_many(arguments: Sequence[Sequence[str]], tell: Callable[[Seen], None]) -> list[Tally]:
    """Run ``videodecode fuzz`` once with each of ``arguments``, all at once; returns what came, one list for all.

    Whatever ends this function, an error or Ctrl-C, ends the processes too.

    Raises:
        WorkerError: a process could not search; its own message is on standard error.
    """
    command = [sys.executable, "-P", "-c", _PROGRAM, json.dumps(sys.path), "fuzz", EVENTS_FLAG]
    events: queue.Queue[str | int] = queue.Queue()
    processes = [
        subprocess.Popen(
            [*command, *each], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, start_new_session=True
        )
        for each in arguments
    ]
    readers = [threading.Thread(target=_forward, args=(process, events), daemon=True) for process in processes]
    for reader in readers:
        reader.start()
    tallies: list[Tally] = []
    statuses: list[int] = []
    try:
        while len(statuses) < len(processes):
            event = events.get()
            if isinstance(event, int):
                statuses.append(event)
                if event not in (0, 1):
                    raise WorkerError(f"a process of the search ended with status {event}; see its message above")
                continue
            said = loads(Event, event, "event of a process")
            if said.seen:
                tell(said.seen)
            if said.tally:
                tallies.append(said.tally)
    finally:
        _stop(processes)
        for process, reader in zip(processes, readers, strict=True):
            reader.join()
            _output(process).close()
    return tallies


def _forward(process: subprocess.Popen[str], events: queue.Queue[str | int]) -> None:
    for line in _output(process):
        events.put(line)
    events.put(process.wait())


def _output(process: subprocess.Popen[str]) -> IO[str]:
    assert process.stdout is not None
    return process.stdout


def _stop(processes: Sequence[subprocess.Popen[str]]) -> None:
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
