"""Every fault planted in a loader is caught by the check that is there for it, in words that name asked and came."""

from __future__ import annotations

import re
from pathlib import Path

import planted_loaders
import pytest

from pytest_videodecode.checks.loaders.base import LoaderSubject, run
from pytest_videodecode.checks.loaders.catalogue import LOADER_CHECKS
from pytest_videodecode.loaders.subject import LoaderRuns
from pytest_videodecode.model import Status

CAUGHT = [
    ("LosesASample", "sample_coverage", r"^asked 60 samples, each once, got: 1 samples never came: episode \d fr"),
    ("DoublesASample", "sample_coverage", r"got: 1 samples came more than once: episode \d frame \d+$"),
    ("RaisesAtTheLast", "sample_coverage", r"got: \d+ samples, then IndexError: list index out of range$"),
    ("OffByOne", "sample_identity", r"front, [-+]\d frames: asked frame \d+, got frame \d+ of episode \d, camera 0; "),
    ("SwapsCameras", "sample_identity", r"images.front, .* got frame \d+ of episode \d, camera 1; \d+ more of"),
    ("ShortWindow", "sample_identity", r"observation.images.front: asked 5 pictures, got 4$"),
    ("FirstFileOnly", "file_boundary", r"episode \d frame \d+, .*: asked frame \d+, got frame 8 of episode 1, "),
    ("NeverFlags", "sample_padding", r"; its flag is False, expected True; \d+ more of 600 pictures$"),
    ("NeighbourAtTheEnd", "sample_padding", r"got frame \d of episode \d, .*; its flag is False, expected True; "),
    ("NeighbourAtTheEnd", "episode_boundary", r"asked frame \d+, got frame \d of episode \d, .*; the episode has "),
    ("Unseeded", "seed_determinism", r"^an epoch, with 0 workers, seed 0: sample \d+ was episode .*, and epi"),
    ("IgnoresTheSeed", "seed_determinism", r"^seed 1 gives the same order as seed 0: the seed has no effect$"),
    ("EveryWorkerReadsAll", "worker_parity", r"^with 2 workers: .* 60 samples came more than once: episode 0 frame 0"),
    ("LosesShardsAtFour", "worker_parity", r"^with 4 workers: asked each sample once, got: 15 samples never came: "),
    ("EveryWorkerReadsAll", "start_methods", r"^2 workers by fork: .* 60 samples came more than once"),
    ("RanksOverlap", "rank_split", r"^2 ranks with 1 worker each: .* 10 samples came more than once: episode \d"),
    ("ResumesOneLate", "resume", r"^resumed at sample 20: .* got: 1 samples were lost: episode \d frame \d+$"),
    ("StartsAgain", "resume", r"^resumed at sample 20: asked the rest of the epoch, got: 20 samples came again: "),
    ("ResumesInAnotherOrder", "resume", r"^resumed at sample 20: sample \d+ was epis.*; the state lacks the or"),
    ("EndsAtDamage", "damaged_clip", r"is damaged; read with on_damage=raise: asked to raise, got \d+ samp"),
    ("NamelessError", "damaged_clip", r"Could not push packet .*, which does not name the file$"),
    ("RaisesThoughAskedToSkip", "damaged_clip", r"on_damage=skip: asked to skip it, got .* UnreadableClip: videos/"),
    ("SkipsInSilence", "damaged_clip", r"on_damage=skip: got 40 samples and no word of the file$"),
    ("NeighbourOnDamage", "damaged_clip", r"asked frame \d+, got frame \d+ of episode [23], .*; \d+ more wrong$"),
]  # fmt: skip


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> LoaderRuns:
    return LoaderRuns(tmp_path_factory.mktemp("loaders"))


def subject(runs: LoaderRuns, name: str) -> LoaderSubject:
    target = f"planted_loaders:{name}"
    return LoaderSubject(
        name=name,
        dataset="data",
        truth=runs.truth,
        load=planted_loaders.load(target),
        several=lambda: runs.several,
        damaged=lambda: runs.damaged,
    )


@pytest.mark.parametrize("check", LOADER_CHECKS)
@pytest.mark.parametrize("loader", ["Good", "BlankPadding"])
def test_good_loader_passes(runs: LoaderRuns, loader: str, check: str) -> None:
    verdict = run(LOADER_CHECKS[check], subject(runs, loader))

    assert (verdict.status, verdict.reason) == (Status.PASSED, "")


@pytest.mark.parametrize(("loader", "check", "said"), CAUGHT, ids=[f"{name}-{check}" for name, check, _ in CAUGHT])
def test_fault_is_caught(runs: LoaderRuns, loader: str, check: str, said: str) -> None:
    verdict = run(LOADER_CHECKS[check], subject(runs, loader))

    assert verdict.status is Status.FAILED
    assert re.search(said, verdict.reason), verdict.reason
    assert "\n" not in verdict.reason


@pytest.mark.parametrize(
    ("loader", "passes"),
    [
        ("FirstFileOnly", ["sample_coverage", "sample_identity", "sample_padding", "worker_parity"]),
        ("NeverFlags", ["sample_identity", "episode_boundary"]),
        ("LosesASample", ["sample_identity", "sample_padding", "episode_boundary", "seed_determinism"]),
        ("RaisesAtTheLast", ["sample_identity", "sample_padding"]),
    ],
)
def test_other_checks_are_not_moved_by_a_fault(runs: LoaderRuns, loader: str, passes: list[str]) -> None:
    for check in passes:
        verdict = run(LOADER_CHECKS[check], subject(runs, loader))
        assert verdict.status is Status.PASSED, verdict


def test_ranks_left_to_the_trainer_are_unsupported(runs: LoaderRuns) -> None:
    verdict = run(LOADER_CHECKS["rank_split"], subject(runs, "LeavesRanksAlone"))

    assert verdict.status is Status.UNSUPPORTED
    assert verdict.reason.startswith("every rank gets every sample")


def test_loader_without_state_is_unsupported(runs: LoaderRuns) -> None:
    verdict = run(LOADER_CHECKS["resume"], subject(runs, "HasNoState"))

    assert (verdict.status, verdict.reason) == (
        Status.UNSUPPORTED,
        "it has no state_dict and load_state_dict",
    )


def test_damage_is_only_in_the_copy(runs: LoaderRuns) -> None:
    whole, damaged = Path(runs.several.folder), Path(runs.damaged.root)
    differ = [
        path.relative_to(whole).as_posix()
        for path in sorted(whole.rglob("*.*"))
        if path.is_file() and path.read_bytes() != (damaged / path.relative_to(whole)).read_bytes()
    ]

    assert differ == [runs.damaged.file]
    assert bytes(400) not in (whole / runs.damaged.file).read_bytes()
