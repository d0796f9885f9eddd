from __future__ import annotations

from fractions import Fraction

from pytest_videodecode.clips.truth import in_order


def seconds(*numbers: int | None) -> list[Fraction | None]:
    return [None if number is None else Fraction(number, 30) for number in numbers]


def test_times_in_order_stay() -> None:
    assert in_order(seconds(2, 3, 4), None) == (Fraction(2, 30), Fraction(3, 30), Fraction(4, 30))


def test_times_lent_by_other_frames_are_put_in_order() -> None:
    assert in_order(seconds(1, 3, 4, 2), None) == tuple(Fraction(n, 30) for n in (1, 2, 3, 4))


def test_frames_without_times_count_at_the_rate() -> None:
    assert in_order(seconds(None, None, None), Fraction(50)) == tuple(Fraction(n, 50) for n in range(3))
    assert in_order(seconds(None, None), None) == (Fraction(0), Fraction(1, 25))


def test_one_missing_time_is_filled_from_the_first_known_one() -> None:
    assert in_order(seconds(30, None, 32), Fraction(30)) == tuple(Fraction(n, 30) for n in (30, 31, 32))


def test_no_frames_have_no_times() -> None:
    assert in_order([], Fraction(30)) == ()
