"""The result files: their name, their form, written whole or not at all, read as strictly as anything from outside."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_videodecode.errors import FormError
from pytest_videodecode.jsonform import from_json, parse, to_json
from streaming_benchmark.arguments import RunSettings
from streaming_benchmark.errors import BenchmarkError
from streaming_benchmark.metrics import Metrics
from streaming_benchmark.nodes import Place

SCHEMA = "videodecode-streaming/1"
_MAX_BYTES = 4 << 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """One node's result. ``frames_per_s_by_node`` has all nodes' figures where there are several."""

    schema: str = SCHEMA
    settings: RunSettings
    place: Place
    metrics: Metrics
    environment: Mapping[str, str] = field(default_factory=dict)
    frames_per_s_by_node: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.schema != SCHEMA:
            raise ValueError(f"the schema is {self.schema!r:.60}, this benchmark reads {SCHEMA!r}")

    @property
    def name(self) -> str:
        """The name of its files, without ending."""
        return stem(self.settings, self.place)


def stem(settings: RunSettings, place: Place) -> str:
    """``{source}_{mode}_bs{B}_w{W}_{device}``, then what would otherwise share a name: another loader, a node."""
    asked = settings
    base = f"{asked.source}_{asked.mode}_bs{asked.batch_size}_w{asked.num_workers}_{asked.video_decode_device}"
    if asked.dataset != "production":
        base += "_" + "".join(c if c.isalnum() or c in ".-" else "-" for c in asked.dataset)[:60]
    return base + (f"_node{place.node}of{place.nodes}" if place.nodes > 1 else "")


def write_result(result: Result, folder: Path) -> tuple[Path, Path]:
    """The JSON and CSV file of ``result`` in ``folder``; each replaces an older one only when it is whole.

    Raises:
        BenchmarkError: a folder that cannot be written to.
    """
    text = json.dumps(to_json(result), indent=1, allow_nan=False) + "\n"
    return write_text(folder / f"{result.name}.json", text), write_text(folder / f"{result.name}.csv", _csv(result))


def read_result(path: Path) -> Result:
    """A result file.

    Raises:
        BenchmarkError: one that cannot be read, is too long, or has another form.
    """
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_BYTES + 1)
        if len(text) > _MAX_BYTES:
            raise BenchmarkError(f"{path} is no result of this benchmark: more than {_MAX_BYTES} bytes")
        return from_json(Result, parse(text, str(path)), str(path))
    except OSError as error:
        raise BenchmarkError(f"cannot read {path}: {error.strerror}") from None
    except FormError as error:
        raise BenchmarkError(f"{error}; give result files of this benchmark") from None


def flat(result: Result) -> dict[str, Any]:
    """Settings, place and metrics as one row; the cache's figures stand under ``video_decoder_cache.*``."""
    form = to_json(result)
    metrics: dict[str, Any] = form["metrics"]
    metrics.pop("missing")
    cache = metrics.pop("video_decoder_cache")
    placed = {name: value for name, value in form["place"].items() if name in ("node", "nodes", "local_world_size")}
    return {**form["settings"], **placed, **metrics, **{f"video_decoder_cache.{k}": v for k, v in cache.items()}}


def with_nodes(result: Result, frames_per_s: Mapping[int, float]) -> Result:
    """``result`` that also has the other nodes' throughput, in the order of the nodes."""
    return replace(result, frames_per_s_by_node=tuple(frames_per_s[node] for node in sorted(frames_per_s)))


def _csv(result: Result) -> str:
    row = flat(result)
    out = io.StringIO()
    writer = csv.DictWriter(out, list(row), lineterminator="\n")
    writer.writeheader()
    writer.writerow({name: "" if value is None else value for name, value in row.items()})
    return out.getvalue()


def write_text(target: Path, text: str) -> Path:
    """Write a file, whole or not at all."""
    part = target.with_name(f".{target.name}-{os.getpid()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            part.write_text(text, encoding="utf-8")
            os.replace(part, target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise BenchmarkError(f"cannot write {target}: {error.strerror}; give another --out_dir") from None
    return target
