"""The Python of the README, run as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from inner_runs import InnerRuns

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)

READER = """
import av

def decode_video_frames(path, indices):
    with av.open(path) as container:
        shown = {n: frame for n, frame in enumerate(container.decode(video=0)) if n in set(indices)}
        return [shown[index].to_ndarray(format="rgb24") for index in indices]
"""


@pytest.mark.parametrize("block", BLOCKS, ids=[re.findall(r"def (test_\w+)", block)[0] for block in BLOCKS])
def test_python_of_the_readme_runs(inner: InnerRuns, block: str) -> None:
    package = inner.pytester.mkpydir("mylab")
    (package / "video_io.py").write_text(READER, encoding="utf-8")
    inner.pytester.makepyfile(test_readme=block)
    result = inner.pytester.runpytest_subprocess()
    outcomes = result.parseoutcomes()
    assert outcomes.keys() == {"passed"}, str(result.stdout)
