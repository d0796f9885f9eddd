"""Holding an answer about a damaged file against what it may be; the result is one sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from pytest_videodecode.checks.asking import Ask
from pytest_videodecode.checks.base import one_line
from pytest_videodecode.checks.compare import incomplete, shown
from pytest_videodecode.checks.damage_truth import Certain
from pytest_videodecode.model import Clip, ErrorInfo, Outcome, OutcomeKind


@dataclass(slots=True)
class Pictures:
    """How many pictures came of damaged files: those of the frame asked, and those that damage has reached.

    ``concealed`` show another frame's number where that may be the codec's concealment, ``unreadable`` show none.
    """

    right: int = 0
    concealed: int = 0
    unreadable: int = 0

    def evidence(self) -> dict[str, int]:
        """As JSON types."""
        return asdict(self)


def is_allowed(error: ErrorInfo, allowed: Sequence[str]) -> bool:
    """Whether one of the classes of ``error`` is named in ``allowed``."""
    return any(_is_named(base, name) for base in error.bases for name in allowed)


def _is_named(base: str, name: str) -> bool:
    # a class is known by the package that exports it: av.FFmpegError is av.error.FFmpegError
    package, *_, own = name.split(".") if "." in name else ("builtins", name)
    first, *_, last = base.split(".")
    return name == base or (package == first and own == last)


def amiss(
    clip: Clip, ask: Ask, outcome: Outcome, truth: Certain, came: Pictures, allowed: Sequence[str] | None = None
) -> str:
    """What is wrong with ``outcome``, in one sentence; empty where nothing is. ``came`` is counted up.

    An error must be one of ``allowed``; None allows all. An error by which a decoder says that there is not enough
    memory is an error like another: FFmpeg says so of absurd sizes.
    """
    if outcome.kind is OutcomeKind.OUT_OF_MEMORY and outcome.error and outcome.error.bases:
        outcome = replace(outcome, kind=OutcomeKind.PARTIAL if outcome.count else OutcomeKind.ERROR)
    sentences = [*_of_pictures(clip, ask, outcome, truth, came)]
    if sentence := incomplete(replace(clip, intact=False), ask, outcome):
        return sentence
    if outcome.error and allowed is not None and not is_allowed(outcome.error, allowed):
        return (
            f"asked frame {ask.frames[min(outcome.count, len(ask.frames) - 1)]}, got {one_line(outcome.error)} "
            f"(pattern '{ask.name}', by {ask.by}); damage may raise {', '.join(allowed)}"
        )
    more = f"; {len(sentences)} such pictures" if len(sentences) > 1 else ""
    return sentences[0] + more if sentences else ""


def _of_pictures(clip: Clip, ask: Ask, outcome: Outcome, truth: Certain, came: Pictures) -> Iterator[str]:
    for position, number in enumerate(shown(clip, ask, outcome)):
        asked = ask.frames[position]
        what = "a picture that shows no frame of the clip" if number is None else f"frame {number}"
        if asked in truth.gone[ask.by]:
            yield f"asked frame {asked}, got {what} ({ask.place(position)}); nothing of it is left in the file"
        elif number == asked:
            came.right += 1
        elif number is None:
            came.unreadable += 1
        elif asked in truth.kept[ask.by]:
            yield f"asked frame {asked}, got {what} ({ask.place(position)}); the damage does not reach it"
        else:
            came.concealed += 1
