"""The program that reads samples for one request, in a process of its own: ``python -m … REQUEST REPLY``.

Every line of the reply file is a JSON object: ``ready``, then a ``sample`` as each comes, then ``end``. A process
that hangs or dies leaves the lines that it had written.
"""

from __future__ import annotations

import copy
import faulthandler
import json
import random
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from pytest_videodecode.errors import Unsupported
from pytest_videodecode.jsonform import loads, to_json
from pytest_videodecode.loaders.build import Built, build
from pytest_videodecode.loaders.observe import Observer
from pytest_videodecode.loaders.wire import Call
from pytest_videodecode.loading import LoadRequest, Sample
from pytest_videodecode.model import ErrorInfo

#: Has the process write its Python stacks to standard error; answered without the GIL.
STACKS_SIGNAL = signal.SIGUSR1


def main(request: str, reply: str) -> None:
    """Serve one request."""
    faulthandler.register(STACKS_SIGNAL)
    warnings.simplefilter("always")  # what a loader says of a damaged clip must be seen each time
    call = loads(Call, Path(request).read_bytes(), request)
    with Path(reply).open("w", encoding="utf-8", buffering=1) as out:
        facts: dict[str, Any] = {}
        error = None
        try:
            for sample in _samples(call, facts, out):
                _say(out, sample=to_json(sample))
        except Exception as raised:
            error = _error_info(raised)
        _say(out, end={**facts, "error": to_json(error)})


def _samples(call: Call, facts: dict[str, Any], out: TextIO) -> Iterator[Sample]:
    asked = call.request
    _say(out, ready=True)
    built = _build(call)
    facts.update(takes=built.takes, resumes=_resumes(built.loader))
    if asked.resume_at is not None:
        yield from islice(_epoch(built.loader, call), asked.resume_at)
        state = copy.deepcopy(built.loader.state_dict())
        built = _build(call)
        built.loader.load_state_dict(state)
    yield from _epoch(built.loader, call)


def _build(call: Call) -> Built:
    asked: LoadRequest = call.request
    spread = asked.world_size > 1
    return build(
        call.target,
        {
            "root": asked.root,
            "delta_timestamps": {camera: list(window) for camera, window in asked.windows.items()} or None,
            "shuffle": asked.shuffle,
            "seed": asked.seed,
            "on_damage": asked.on_damage,
            "rank": asked.rank if spread else None,
            "world_size": asked.world_size if spread else None,
        },
        must=("root", *(("delta_timestamps",) if asked.windows else ())),
        options=call.options,
    )


def _epoch(loader: Any, call: Call) -> Iterator[Sample]:
    asked, observe = call.request, Observer(call.cameras)
    if not asked.workers:
        yield from map(observe, loader)
        return
    try:
        import torch
    except ImportError as error:
        raise Unsupported(f"workers need torch ({error}); run: {sys.executable} -m pip install torch") from None
    from torch.utils.data import DataLoader

    from pytest_videodecode.loaders.iterable import Iterable

    yield from DataLoader(
        Iterable(loader),
        batch_size=None,
        num_workers=asked.workers,
        multiprocessing_context=asked.start_method,
        collate_fn=observe,
        # workers would be given a random seed; what is not random by the loader's own doing must not be
        generator=torch.Generator().manual_seed(asked.seed),
    )


def _resumes(loader: Any) -> bool:
    return hasattr(loader, "state_dict") and hasattr(loader, "load_state_dict")


def _error_info(error: BaseException) -> ErrorInfo:
    bases = tuple(f"{kind.__module__}.{kind.__qualname__}" for kind in type(error).__mro__[:-1])
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # of an error that a DataLoader brings over from a worker, the last line is what was raised there
    message = lines[-1] if lines and lines[0].startswith("Caught ") else " ".join(lines)
    message = message.removeprefix(f"{type(error).__name__}: ")
    return ErrorInfo(
        type=type(error).__name__,
        message=message[:2000],
        bases=bases,
        traceback="".join(traceback.format_exception(error))[-8000:],
    )


def _say(out: TextIO, **line: Any) -> None:
    out.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    random.seed()  # an unseeded loader must show as one
    main(*sys.argv[1:])
