"""The Python of the README, run as it stands there."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from inner_runs import InnerRuns

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.model import ClipSpec

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
TESTS = [block for block in BLOCKS if "def test_" in block]
USES = [block for block in BLOCKS if block not in TESTS]

READER = """
import av

def decode_video_frames(path, indices):
    with av.open(path) as container:
        shown = {n: frame for n, frame in enumerate(container.decode(video=0)) if n in set(indices)}
        return [shown[index].to_ndarray(format="rgb24") for index in indices]
"""


@pytest.mark.parametrize("block", TESTS, ids=[re.findall(r"def (test_\w+)", block)[0] for block in TESTS])
def test_python_of_the_readme_runs(inner: InnerRuns, block: str) -> None:
    package = inner.pytester.mkpydir("mylab")
    (package / "video_io.py").write_text(READER, encoding="utf-8")
    inner.pytester.makepyfile(test_readme=block)
    result = inner.pytester.runpytest_subprocess()
    outcomes = result.parseoutcomes()
    assert outcomes.keys() == {"passed"}, str(result.stdout)


@pytest.mark.parametrize("block", USES, ids=[block.splitlines()[0] for block in USES])
def test_python_that_uses_the_reader_runs(
    block: str, clip_cache: ClipCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    clip = clip_cache.clip(ClipSpec(codec="mpeg4", rate=Fraction(20), frames=48))
    (tmp_path / "episode.mp4").symlink_to(clip.path)
    monkeypatch.chdir(tmp_path)
    values: dict[str, Any] = {}

    exec(block, values)

    assert tuple(values["frames"].shape) == (3, 3, 128, 192)
