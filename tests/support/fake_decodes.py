"""Decodes of damaged copies that cost nothing: what comes is said by the test, no worker is started."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.fuzz.trials import Trials
from pytest_videodecode.model import Census, Clip, DecodeRequest, DecoderInfo, ErrorInfo, Hang, Outcome, OutcomeKind

INFO = DecoderInfo(name="fake")
REFUSED = Outcome(
    kind=OutcomeKind.ERROR, error=ErrorInfo(type="ValueError", message="damaged", bases=("builtins.ValueError",))
)
CRASH = Outcome(kind=OutcomeKind.CRASH, signal="SIGSEGV")


class FakeDecode:
    """Asks ``say`` what comes of the bytes of a damaged file; the clean clip is decoded in ``clean_s`` seconds."""

    def __init__(self, clip: Clip, say: Callable[[bytes], Outcome | str], clean_s: float = 0.01) -> None:
        self._clean = Path(clip.path).read_bytes()
        self._clean_s = clean_s
        self._say = say
        self.limits: list[float | None] = []

    def __call__(self, request: DecodeRequest, limit_s: float | None) -> Outcome:
        data = Path(request.path).read_bytes()
        if data == self._clean:
            return Outcome(kind=OutcomeKind.FRAMES, count=request.asked, census=Census(wall_s=self._clean_s))
        self.limits.append(limit_s)
        said = self._say(data)
        if said == "hang":
            return Outcome(kind=OutcomeKind.HANG, hang=Hang(limit_s=limit_s or 0.0, gil_held=True))
        assert isinstance(said, Outcome)
        return said

    def trials(self, clip: Clip, folder: Path, cache: ClipCache) -> Trials:
        """Trials of this decode, with a limit of 20 s at most."""
        return Trials(clip, INFO, self, folder, cache, most_s=20.0)
