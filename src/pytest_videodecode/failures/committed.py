"""Small clips that are committed with the truth about them, so that recipes for them outlive the encoders.

Beside ``NAME`` lies ``NAME.json``: the spec that the clip was made from, the digest of its bytes, and for every frame
its time and the digest of its pixels, as FFmpeg's command line decodes it.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_videodecode.clips import job
from pytest_videodecode.clips.readers import MarkReader
from pytest_videodecode.clips.truth import Truth
from pytest_videodecode.damage.damage import write_whole
from pytest_videodecode.damage.mapping import read_bytes
from pytest_videodecode.errors import DamageError, FormError
from pytest_videodecode.jsonform import loads, to_json
from pytest_videodecode.model import Clip, ClipSpec

SCHEMA = "videodecode-clip/1"

#: The largest clip that is committed, in bytes.
MAX_CLIP = 256 * 1024

_LIMIT_S = 60.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Sidecar:
    """What ``NAME.json`` says of the clip ``NAME``."""

    schema: str = SCHEMA
    spec: ClipSpec
    sha256: str
    truth: Truth


def commit(clip: Clip, folder: Path, name: str = "") -> Path:
    """Copy the generated ``clip`` and the truth about it into ``folder``, unless it is there under any name.

    ``name`` is that of the new file without its ending; by default it is made from the spec.

    Raises:
        DamageError: a real file, a clip above 256 KiB, a folder that cannot be written in.
        Unsupported: there is no FFmpeg command line to tell the truth.
    """
    if clip.spec is None:
        raise DamageError(f"{clip.name} is a real file; only generated clips are copied, put it beside them yourself")
    content = read_bytes(clip)
    if len(content) > MAX_CLIP:
        raise DamageError(
            f"clip {clip.name} has {len(content)} bytes, more than the {MAX_CLIP} of a committed one; "
            "find the failure on a smaller clip"
        )
    digest = hashlib.sha256(content).hexdigest()
    for beside in sorted(folder.glob("*.json")):
        if loads(Sidecar, beside.read_bytes(), str(beside)).sha256 == digest:
            return beside.with_suffix("")
    stem = name or f"{re.sub('[^A-Za-z0-9.=-]', '_', clip.spec.name)[:60]}-{digest[:8]}"
    path = write_whole(folder / f"{stem}.{clip.spec.container}", content)
    truth = replace(job.run(job.Job(path=str(path.absolute())), _LIMIT_S), signatures=())
    text = json.dumps(to_json(Sidecar(spec=clip.spec, sha256=digest, truth=truth)), indent=1)
    write_whole(sidecar(path), (text + "\n").encode("ascii"))
    return path


def sidecar(path: Path) -> Path:
    """The file with the truth about the committed clip ``path``."""
    return path.with_name(f"{path.name}.json")


def described(path: Path) -> Sidecar:
    """What is written about the committed clip ``path``.

    Raises:
        DamageError: nothing is, or the file is no longer the one that was described.
        FormError: not what ``commit`` writes.
    """
    beside = sidecar(path)
    try:
        text, content = beside.read_bytes(), path.read_bytes()
    except OSError as error:
        raise DamageError(f"{error.filename}: cannot be read ({error.strerror}); commit clip and truth both") from None
    said = loads(Sidecar, text, str(beside))
    if said.schema != SCHEMA:
        raise FormError(f"{beside}: of schema {said.schema[:40]!r}; this version reads {SCHEMA!r}")
    if hashlib.sha256(content).hexdigest() != said.sha256:
        raise DamageError(f"{path}: not the file that {beside.name} describes; restore both from version control")
    return said


def committed_clip(path: Path) -> Clip:
    """The committed clip ``path``, named after its file; raises as ``described`` does."""
    said = described(path)
    return said.truth.clip(path.name, path.absolute(), MarkReader(said.truth.width, said.truth.height), said.spec)
