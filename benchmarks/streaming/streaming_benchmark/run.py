"""One benchmark: the loader in a DataLoader, the consumer, the meeting of the processes, the result files."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from torch.utils.data import DataLoader
from tqdm import tqdm

from pytest_videodecode.errors import VideodecodeError
from pytest_videodecode.jsonform import loads, to_json
from streaming_benchmark.arguments import RunSettings
from streaming_benchmark.consume import consume
from streaming_benchmark.describe import Described, describe
from streaming_benchmark.device import Device
from streaming_benchmark.errors import BenchmarkError
from streaming_benchmark.metrics import figures
from streaming_benchmark.nodes import Meeting, Place, place
from streaming_benchmark.noted import Noted, note
from streaming_benchmark.result import Result, with_nodes, write_result
from streaming_benchmark.systems import load, one_line, versions
from streaming_benchmark.timing import BatchTiming, TimedCollate, TimedDataset, peak_rss

#: How long processes wait for each other beyond the time that one batch may take.
_MEETING_S = 120.0


def run(settings: RunSettings, environment: Mapping[str, str] = os.environ) -> tuple[Result, list[Path]]:
    """Measure, and write this node's files; the paths are empty in a process that does not write.

    Raises:
        BenchmarkError: what cannot be measured, here or in another process; then nothing was written here.
    """
    here = place(environment)
    device = Device(settings.device, settings.video_decode_device, here.local_rank)
    meeting = Meeting(here, settings.batch_timeout_s + _MEETING_S)
    try:
        noted, facts = _measured(settings, device, here, meeting)
    except BaseException as error:
        said = str(error) if isinstance(error, VideodecodeError) else one_line(error)
        meeting.fail(said)  # so that nobody waits for us in vain
        raise
    meeting.share("noted", json.dumps(to_json(noted)))
    everyone = _everyone(meeting, here) or {0: noted}
    meeting.leave()
    by_node: dict[int, list[Noted]] = {}
    for rank, theirs in sorted(everyone.items()):
        by_node.setdefault(rank // here.local_world_size, []).append(theirs)
    result = Result(
        settings=settings,
        place=here,
        metrics=figures(by_node[here.node]),
        environment={**versions(), **facts, "cores": str(os.cpu_count()), "machine": platform.node()},
    )
    if here.nodes > 1:
        result = with_nodes(result, {node: figures(them).frames_per_s_node for node, them in by_node.items()})
    return result, list(write_result(result, Path(settings.out_dir))) if here.leads_node else []


def _measured(settings: RunSettings, device: Device, here: Place, meeting: Meeting) -> tuple[Noted, dict[str, str]]:
    data = describe(settings)
    timed = TimedDataset(load(settings, data))
    loader = _loader(settings, timed, data, device)
    meeting.wait("start")
    batches = settings.warmup_batches + settings.num_batches
    shown = settings.progress and here.rank == 0 and sys.stderr.isatty()
    with tqdm(total=batches, unit="batch", disable=not shown, desc=settings.mode) as bar:
        try:
            seen = consume(
                lambda number: _epoch(loader, timed, number),
                warmup_batches=settings.warmup_batches,
                num_batches=settings.num_batches,
                step_s=settings.consumer_step_ms / 1e3,
                move=device.move,
                finish=device.finish,
                tick=bar.update,
            )
        except VideodecodeError:
            raise
        except Exception as error:
            raise BenchmarkError(f"loader {settings.dataset}: {one_line(error)}") from error
    backend = getattr(timed.dataset, "backend", None)
    facts = {"backend": backend} if isinstance(backend, str) else {}
    return note(seen, rss_main=peak_rss(), in_main=not settings.num_workers), facts


def _epoch(loader: DataLoader[Any], timed: TimedDataset, number: int) -> Iterator[tuple[Any, BatchTiming]]:
    if number and hasattr(timed.dataset, "set_epoch"):
        timed.dataset.set_epoch(number)
    return iter(loader)


def _loader(settings: RunSettings, timed: TimedDataset, data: Described, device: Device) -> DataLoader[Any]:
    workers: dict[str, Any] = {}
    if settings.num_workers:
        workers = {
            "prefetch_factor": settings.prefetch_factor,
            "persistent_workers": True,
            "multiprocessing_context": settings.start_method,
            "timeout": settings.batch_timeout_s,
        }
    return DataLoader(
        timed,
        batch_size=settings.batch_size,
        num_workers=settings.num_workers,
        collate_fn=TimedCollate(timed, data.cameras),
        pin_memory=device.pins and settings.video_decode_device == "cpu",
        **workers,
    )


def _everyone(meeting: Meeting, here: Place) -> dict[int, Noted]:
    texts = meeting.collect("noted", range(here.world_size))
    return {rank: loads(Noted, text, f"rank {rank}") for rank, text in enumerate(texts)}
