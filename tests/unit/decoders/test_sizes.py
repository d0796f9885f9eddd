from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import av
import pytest

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.decoders.sizes import NOMINAL, SizeFinder
from pytest_videodecode.errors import Unsupported
from pytest_videodecode.model import ClipSpec


@pytest.fixture
def clip_path(clip_cache: ClipCache) -> str:
    return clip_cache.clip(ClipSpec(codec="h264", width=224, height=160, frames=8)).path


def test_size_is_height_and_width_of_the_clip(clip_path: str) -> None:
    assert SizeFinder()(clip_path) == (160, 224)


def test_a_file_is_opened_once_while_it_stays_the_same(
    clip_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(shutil.copy(clip_path, tmp_path / "clip.mp4"))
    size_of = SizeFinder()
    assert size_of(path) == (160, 224)
    with monkeypatch.context() as patched:
        patched.setattr(av.container, "open", lambda *_, **__: pytest.fail("opened again"))
        assert size_of(path) == (160, 224)
    Path(path).write_bytes(b"no video any more")
    os.utime(path, ns=(0, 0))
    assert size_of(path) == NOMINAL


def test_looking_is_not_seen_by_who_watches_av_open(clip_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(av, "open", lambda *_, **__: pytest.fail("went through av.open"))
    assert SizeFinder()(clip_path) == (160, 224)


@pytest.mark.parametrize("content", [None, b"", b"no video"])
def test_a_file_without_pictures_has_the_nominal_size(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "clip.mp4"
    if content is not None:
        path.write_bytes(content)
    assert SizeFinder()(str(path)) == NOMINAL
    assert SizeFinder()(str(tmp_path)) == NOMINAL


def test_without_pyav_the_size_cannot_be_learnt(clip_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av.container", None)
    with pytest.raises(Unsupported, match="pip install av"):
        SizeFinder()(clip_path)
