from __future__ import annotations

from dataclasses import replace

import numpy as np

from pytest_videodecode.clips import marks
from pytest_videodecode.clips.pictures import pictures
from pytest_videodecode.model import ClipSpec

SPEC = ClipSpec(width=160, height=96, frames=20)


def test_frame_i_bears_the_mark_i() -> None:
    shown = np.stack(list(pictures(SPEC)))
    assert shown.shape == (20, 96, 160, 3)
    assert shown.dtype == np.uint8
    assert marks.read(shown) == list(range(20))


def test_neighbouring_frames_differ_clearly() -> None:
    shown = np.stack(list(pictures(SPEC))).astype(int)
    assert np.abs(np.diff(shown, axis=0)).mean(axis=(1, 2, 3)).min() > 4


def test_equal_specs_give_equal_pictures_and_another_texture_others() -> None:
    first, again = (np.stack(list(pictures(SPEC))) for _ in range(2))
    other = np.stack(list(pictures(replace(SPEC, texture=1))))
    assert (first == again).all()
    assert (first != other).any(axis=(1, 2, 3)).all()
