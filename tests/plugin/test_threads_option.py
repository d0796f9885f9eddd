"""--videodecode-threads, videodecode_threads, and the environment variable that carries a count."""

from __future__ import annotations

import pytest
from inner_runs import InnerRuns

SEES_THREADS = """
import os
import av
import numpy as np

def decode(path, indices):
    seen.append(os.environ.get("MYLAB_THREADS", "unset"))
    with open("seen.txt", "w") as file:
        file.write(" ".join(sorted(set(seen))))
    with av.open(path) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    return np.stack([frames[index] for index in indices])

seen = []
"""


def own_test(counts: str) -> str:
    return f"""
    def test_counts(videodecode):
        assert videodecode._run.session.settings.threads == {counts}
    """


@pytest.mark.parametrize(
    ("ini", "flag", "counts"),
    [
        (None, None, "(0, 1, 2, 4)"),
        ("1, 3", None, "(1, 3)"),
        ("1, 3", "0", "(0,)"),
        (None, "2,2,1", "(2, 1)"),
    ],
)
def test_flag_counts_against_the_ini_key(inner: InnerRuns, ini: str | None, flag: str | None, counts: str) -> None:
    if ini is not None:
        inner.pytester.makeini(f"[pytest]\nvideodecode_threads = {ini}\n")
    inner.pytester.makepyfile(test_own=own_test(counts))

    arguments = [] if flag is None else [f"--videodecode-threads={flag}"]
    inner.tests(*arguments).result.assert_outcomes(passed=1)


def test_counts_are_asked_of_the_decoder_and_told_in_the_replay(inner: InnerRuns) -> None:
    ran = inner.suite(decoder="pyav", checks="thread_parity", threads="1,3")

    assert ran.verdict["status"] == "passed"
    assert ran.verdict["replay"].endswith("--checks thread_parity --codecs mpeg4 --threads 1,3")


@pytest.mark.parametrize("way", ["flag", "ini", "spec"])
def test_environment_variable_carries_the_count_to_a_function(inner: InnerRuns, way: str) -> None:
    inner.pytester.makepyfile(mylab=SEES_THREADS)
    if way == "ini":
        inner.pytester.makeini("[pytest]\nvideodecode_threads_env = MYLAB_THREADS\n")
    arguments = ["--videodecode-threads-env=MYLAB_THREADS"] if way == "flag" else []
    decoder = "mylab:decode,threads_env=MYLAB_THREADS" if way == "spec" else "mylab:decode"

    ran = inner.suite(*arguments, decoder=decoder, checks="thread_parity", threads="0,3")

    assert ran.verdict["status"] == "passed"
    assert ran.verdict["decoder"] == decoder
    assert {"0", "3"} <= set((inner.pytester.path / "seen.txt").read_text().split())


def test_without_a_way_to_set_the_count_the_check_is_unsupported(inner: InnerRuns) -> None:
    inner.pytester.makepyfile(mylab=SEES_THREADS)

    ran = inner.suite(decoder="mylab:decode", checks="thread_parity")

    ran.result.assert_outcomes(skipped=1)
    assert ran.verdict["status"] == "unsupported"
    assert "threads_env" in ran.verdict["reason"]


def test_empty_flag_counts_against_the_ini_key(inner: InnerRuns) -> None:
    inner.pytester.makepyfile(mylab=SEES_THREADS)
    inner.pytester.makeini("[pytest]\nvideodecode_threads_env = MYLAB_THREADS\n")

    ran = inner.suite(decoder="mylab:decode", checks="thread_parity", threads_env="")

    assert ran.verdict["status"] == "unsupported"
