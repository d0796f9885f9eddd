"""The text that names a loader: ``NAME[,option=value…][@PYTHON]``, as decoders are named."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pytest_videodecode.decoders import spec as decoders
from pytest_videodecode.decoders.spec import DecoderSpec
from pytest_videodecode.errors import DecoderSpecError, LoaderSpecError

#: Registered name → module and class, imported only when a loader is built.
REGISTERED: Mapping[str, str] = MappingProxyType(
    {
        "production": "pytest_videodecode.production.streaming:StreamingDataset",
        "lerobot": "lerobot.datasets.streaming_dataset:StreamingLeRobotDataset",
    }
)

FORM = "write NAME[,option=value…][@PYTHON], NAME one of {} or module:Class"


def parse(text: str, registered: Mapping[str, str] = REGISTERED) -> DecoderSpec:
    """``text`` as a spec whose ``target`` is ``module:Class``; nothing is imported yet.

    Raises:
        LoaderSpecError: malformed text, or a name that is not registered.
    """
    form = FORM.format(", ".join(registered))
    try:
        spec = decoders.parse(text)
    except DecoderSpecError:
        raise LoaderSpecError(f"loader {text!r} is no spec; {form}") from None
    target = registered.get(spec.target, spec.target)
    if ":" not in target:
        raise LoaderSpecError(f"loader {spec.target!r} is unknown; {form}")
    return DecoderSpec(target, spec.options, spec.python)
