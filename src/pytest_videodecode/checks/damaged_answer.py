"""Asking about damaged files, and holding each answer against what it may be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from pytest_videodecode.checks.asking import Ask
from pytest_videodecode.checks.base import Faults, Finding, Subject, one_line
from pytest_videodecode.checks.compare import NO_ANSWER, incomplete, shown
from pytest_videodecode.checks.damage_truth import Certain
from pytest_videodecode.damage.recipe import OutcomeClass
from pytest_videodecode.model import Clip, ErrorInfo, Outcome, OutcomeKind


@dataclass(slots=True)
class Pictures:
    """How many pictures came of damaged files: those of the frame asked, and those that damage has reached.

    ``concealed`` show another frame's number where that may be the codec's concealment, ``unreadable`` show none.
    """

    right: int = 0
    concealed: int = 0
    unreadable: int = 0


@dataclass(slots=True)
class Inquiry:
    """Requests about damaged files, and what came of them. ``allowed`` None takes any error for right."""

    subject: Subject
    allowed: Sequence[str] | None = None
    faults: Faults = field(default_factory=Faults)
    pictures: Pictures = field(default_factory=Pictures)
    outcomes: Counter[str] = field(default_factory=Counter)

    def ask(self, clip: Clip, ask: Ask, path: str, truth: Certain, damage: str) -> bool:
        """Ask the damaged copy of ``clip`` at ``path``; False where asking on would cost a time limit each."""
        request = replace(ask.request(clip), path=path)
        outcome = self.subject.decode(request)
        self.outcomes[str(OutcomeClass.of(outcome))] += 1
        if sentence := amiss(clip, ask, outcome, truth, came=self.pictures, allowed=self.allowed):
            self.faults.add(f"{damage}: {sentence}", request)
        return outcome.kind not in NO_ANSWER or is_refusal(outcome)

    def finding(self, **evidence: Any) -> Finding:
        """The verdict so far, with the counts as evidence."""
        return self.faults.finding(outcomes=dict(self.outcomes), pictures=asdict(self.pictures), **evidence)


def is_refusal(outcome: Outcome) -> bool:
    """Whether the decoder itself said that there is not enough memory, as FFmpeg says of absurd sizes."""
    return outcome.kind is OutcomeKind.OUT_OF_MEMORY and outcome.error is not None


def is_allowed(error: ErrorInfo, allowed: Sequence[str]) -> bool:
    """Whether one of the classes of ``error`` is named in ``allowed``."""
    return any(_is_named(base, name) for base in error.bases for name in allowed)


def _is_named(base: str, name: str) -> bool:
    # a class is known by the package that exports it: av.FFmpegError is av.error.FFmpegError
    package, *_, own = name.split(".") if "." in name else ("builtins", name)
    first, *_, last = base.split(".")
    return name == base or (package == first and own == last)


def amiss(
    clip: Clip, ask: Ask, outcome: Outcome, truth: Certain, *, came: Pictures, allowed: Sequence[str] | None = None
) -> str:
    """What is wrong with ``outcome``, in one sentence; empty where nothing is. ``came`` is counted up.

    An error must be one of ``allowed``; None allows all.
    """
    if is_refusal(outcome):
        outcome = replace(outcome, kind=OutcomeKind.PARTIAL if outcome.count else OutcomeKind.ERROR)
    sentences = [*_of_pictures(clip, ask, outcome, truth, came)]
    if sentence := incomplete(replace(clip, intact=False), ask, outcome):
        return sentence
    if outcome.error and allowed is not None and not is_allowed(outcome.error, allowed):
        return (
            f"asked frame {ask.frames[min(outcome.count, len(ask.frames) - 1)]}, got {one_line(outcome.error)} "
            f"(pattern '{ask.name}', by {ask.by}); allowed are {', '.join(allowed)} (setting allowed_errors)"
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
