from __future__ import annotations

import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pytest_videodecode.errors import MeasurementError
from pytest_videodecode.measure.barrier import FolderBarrier

NEVER_S = 60.0


def meet(barrier: FolderBarrier) -> float:
    """When it went."""
    barrier.meet()
    return time.monotonic()


def meet_all(barriers: list[FolderBarrier]) -> list[float]:
    with ThreadPoolExecutor(len(barriers)) as pool:
        return list(pool.map(meet, barriers))


def test_nobody_goes_before_the_last_has_come(tmp_path: Path) -> None:
    first, second = (FolderBarrier(tmp_path / "new" / "folder", seat, 2, NEVER_S) for seat in range(2))
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(meet, first)
        while not (tmp_path / "new" / "folder" / "start.0").exists():
            assert not waiting.done()
        arrived = time.monotonic()
        gone = meet(second)
        assert min(gone, waiting.result()) >= arrived


def test_all_go_at_one_moment(tmp_path: Path) -> None:
    meet_all([FolderBarrier(tmp_path, seat, 5, NEVER_S) for seat in range(5)])
    agreed = float((tmp_path / "start").read_text())
    assert time.monotonic() >= agreed


def test_one_alone_waits_for_nobody(tmp_path: Path) -> None:
    FolderBarrier(tmp_path, 0, 1, NEVER_S).meet()


def test_party_that_never_comes_holds_the_others_up_for_the_limit_only(tmp_path: Path) -> None:
    start = time.monotonic()
    gone = meet_all([FolderBarrier(tmp_path, seat, 3, 0.3) for seat in range(2)])
    assert min(gone) >= start + 0.3


def test_party_that_has_left_is_not_waited_for(tmp_path: Path) -> None:
    FolderBarrier(tmp_path, 2, 3, NEVER_S).leave()
    meet_all([FolderBarrier(tmp_path, seat, 3, NEVER_S) for seat in range(2)])


def test_party_that_leaves_after_it_came_counts_once(tmp_path: Path) -> None:
    leaving = FolderBarrier(tmp_path, 0, 3, 0.3)
    with ThreadPoolExecutor(2) as pool:
        waiting = pool.submit(meet, FolderBarrier(tmp_path, 1, 3, NEVER_S))
        pool.submit(meet, leaving).result()  # it had to wait for its limit: two of three were there
        leaving.leave()
        waiting.result()


def test_party_that_comes_when_the_others_have_gone_is_told(tmp_path: Path) -> None:
    FolderBarrier(tmp_path, 0, 2, 1e-3).meet()
    with pytest.raises(MeasurementError, match=r"seat 1 came \d+\.\d s after the others had gone"):
        FolderBarrier(tmp_path, 1, 2, 1e-3).meet()


def test_those_who_part_wait_for_the_last_but_not_for_one_that_has_left(tmp_path: Path) -> None:
    barriers = [FolderBarrier(tmp_path, seat, 3, NEVER_S) for seat in range(3)]
    meet_all(barriers)
    barriers[2].leave()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(barriers[0].part)
        while not (tmp_path / "end.0").exists():
            assert not waiting.done()
        barriers[1].part()
        waiting.result()


def test_one_that_parts_late_goes_its_way(tmp_path: Path) -> None:
    FolderBarrier(tmp_path, 0, 2, 1e-3).part()
    FolderBarrier(tmp_path, 1, 2, NEVER_S).part()


def test_nothing_is_left_but_what_was_said(tmp_path: Path) -> None:
    meet_all([FolderBarrier(tmp_path, seat, 2, NEVER_S) for seat in range(2)])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["start", "start-first", "start.0", "start.1"]


def test_seat_beyond_the_last_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MeasurementError, match="seat 2 of 2"):
        FolderBarrier(tmp_path, 2, 2, NEVER_S)


def test_folder_that_cannot_be_used_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(MeasurementError, match="seats cannot meet in"):
        FolderBarrier(tmp_path / "file", 0, 1, NEVER_S).meet()


def test_folder_that_goes_away_is_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "meeting"
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(meet, FolderBarrier(folder, 0, 2, NEVER_S))
        while not (folder / "start-first").exists():
            assert not waiting.done()
        shutil.rmtree(folder)
        with pytest.raises(MeasurementError, match="seats cannot meet in"):
            waiting.result()


@pytest.mark.parametrize("text", ["", "[1]", "soon", "NaN", "-Infinity"])
def test_time_that_is_none_is_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "start").write_text(text)
    with pytest.raises(MeasurementError, match="start is not a time"):
        FolderBarrier(tmp_path, 0, 1, NEVER_S).meet()
