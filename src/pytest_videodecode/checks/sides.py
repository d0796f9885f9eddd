"""The sides of a comparison: a decoder at each of its thread settings, and a second decoder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from pytest_videodecode.checks.asking import Ask, ways
from pytest_videodecode.checks.base import Subject
from pytest_videodecode.checks.thread_parity import Setting
from pytest_videodecode.errors import Unsupported
from pytest_videodecode.model import Clip, DecodeRequest, Outcome

TWIN = "twin"


@dataclass(frozen=True, slots=True)
class Side:
    """One way of decoding; ``setting`` is None where the decoder's own holds."""

    name: str
    decode: Callable[[DecodeRequest], Outcome]
    ways: tuple[str, ...]
    setting: Setting | None = None

    def asks(self, windows: Sequence[tuple[int, ...]]) -> Iterator[Ask]:
        """One for each window, by every way of asking in turn."""
        for number, frames in enumerate(windows):
            yield Ask("random window", frames, self.ways[number % len(self.ways)])

    def request(self, ask: Ask, clip: Clip, path: str) -> DecodeRequest:
        """The request to the damaged copy of ``clip`` at ``path``."""
        request = replace(ask.request(clip), path=path)
        if self.setting is None:
            return request
        return replace(request, threads=self.setting.threads, thread_type=self.setting.thread_type)


def sides(subject: Subject) -> list[Side]:
    """Every side there is, the one that the others are held against first: one thread, where that can be set."""
    offered = ways(subject)
    settings = _settings(subject)
    own = [Side(str(setting), subject.decode, offered, setting) for setting in settings]
    return [*(own or [Side("this decoder", subject.decode, offered)]), *_twin(subject)]


def _settings(subject: Subject) -> list[Setting]:
    """Every count, one thread first, and at the highest every thread type."""
    if not subject.decoder.threads_by:
        return []
    counts = sorted(dict.fromkeys(subject.threads), key=lambda count: count != 1)
    typed = [Setting(max(counts), kind) for kind in subject.decoder.thread_types]
    return [*(Setting(count, None) for count in counts), *typed]


def _twin(subject: Subject) -> Iterator[Side]:
    """The second decoder, asked as it can be; nothing where there is none, or no way."""
    twin, clip = subject.twin, subject.clip
    if twin is None:
        return
    any_way = ways(replace(subject, decoder=replace(subject.decoder, asks=("indices", "timestamps"))))
    unsupported = f"{Unsupported.__module__}.{Unsupported.__qualname__}"
    errors = {by: twin(Ask("first frame", (0,), by).request(clip)).error for by in any_way}
    if offered := tuple(by for by, error in errors.items() if error is None or unsupported not in error.bases):
        yield Side(TWIN, twin, offered)
