"""Functions of a user's in a module of the folder: right ones, wrong ones, and those that do worse."""

from __future__ import annotations

import pytest
from inner_runs import InnerRuns

LEROBOT = """
import av
import numpy as np

def decode_video_frames(video_path, timestamps, tolerance_s, backend=None):
    with av.open(str(video_path)) as container:
        frames = [(frame.time, frame.to_ndarray(format="rgb24")) for frame in container.decode(video=0)]
    nearest = [min(range(len(frames)), key=lambda n: abs(frames[n][0] - t)) for t in timestamps]
    pictures = np.stack([frames[SHIFT(n, len(frames))][1] for n in nearest])
    return pictures.transpose(0, 3, 1, 2).astype(np.float32) / 255
"""

OPENWAM = """
import av

def decode_video_frames(video_path, frame_indices, height, width):
    with av.open(video_path) as container:
        frames = [frame.reformat(width, height, "rgb24").to_ndarray() for frame in container.decode(video=0)]
    return [frames[SHIFT(n, len(frames))] for n in frame_indices]
"""

RIGHT = "\nSHIFT = lambda n, count: n\n"
OFF_BY_ONE = "\nSHIFT = lambda n, count: min(n + 1, count - 1)\n"


@pytest.mark.parametrize("shape", [LEROBOT, OPENWAM], ids=["lerobot", "openwam"])
def test_right_function_of_three_lines_passes(inner: InnerRuns, shape: str) -> None:
    inner.pytester.makepyfile(mylab=shape + RIGHT)

    ran = inner.suite(decoder="mylab:decode_video_frames", codecs="mpeg4,h264", checks="frame_identity")

    assert [verdict["reason"] for verdict in ran.verdicts] == ["", ""]
    ran.result.assert_outcomes(passed=2)


@pytest.mark.parametrize(("shape", "by"), [(LEROBOT, "timestamp"), (OPENWAM, "index")], ids=["lerobot", "openwam"])
def test_off_by_one_names_the_frame_asked_and_the_frame_that_came(inner: InnerRuns, shape: str, by: str) -> None:
    inner.pytester.makepyfile(mylab=shape + OFF_BY_ONE)

    ran = inner.suite(decoder="mylab:decode_video_frames", checks="frame_identity")

    ran.result.assert_outcomes(failed=1)
    said = f"asked frame 0, got frame 1 (picture 1 of 9, pattern 'start window', by {by}); 9 of 9 pictures are wrong"
    assert ran.verdict["reason"].startswith(said)
    ran.result.stdout.fnmatch_lines([f"FAILED frame_identity of mylab:decode_video_frames on mpeg4: {said}*"])


def test_wrong_number_of_frames_is_said(inner: InnerRuns) -> None:
    ran = inner.suite(decoder="rogue:too_few", checks="frame_identity")

    assert ran.verdict["status"] == "failed"
    assert "8 pictures came for 9 asked" in ran.verdict["reason"]


def test_what_a_decoder_prints_does_no_harm(inner: InnerRuns) -> None:
    assert inner.suite(decoder="rogue:talks").verdict["status"] == "passed"


@pytest.mark.parametrize(
    ("decoder", "status", "said"),
    [
        ("rogue:nothing", "failed", "None"),
        ("rogue:wrong_dtype", "failed", "int64"),
        ("rogue:generator", "failed", "returned an object of type generator; return uint8"),
        ("rogue:crashes", "failed", "crash (SIGSEGV)"),
        ("rogue:exits", "failed", "crash (exit status 3)"),
        ("rogue:raises_memory_error", "failed", "out of memory"),
        ("rogue:answers_garbage", "failed", "garbage from the worker"),
        ("mylab:returns_text", "failed", "str"),
        ("mylab:raises_two_lines", "failed", "ValueError: first line second line"),
        ("mylab:leaves", "failed", "SystemExit"),
        ("mylab:no_known_parameters", "error", "(video_path, timestamps, tolerance_s"),
        ("raises_on_import:decode", "error", "importing raises_on_import raised RuntimeError: no GPU here; see that"),
        ("exits_on_import:decode", "error", "importing exits_on_import raised SystemExit: 4"),
        ("broken:decode", "error", "importing broken raised SyntaxError"),
        ("ends_on_import:decode", "error", "ended before it was ready"),
    ],
)
def test_misbehaving_decoder_is_one_line_and_costs_no_other_test(
    inner: InnerRuns, decoder: str, status: str, said: str
) -> None:
    inner.pytester.makepyfile(
        mylab="""
        import sys

        def returns_text(path, indices): return "no pictures"
        def raises_two_lines(path, indices): raise ValueError("first line\\nsecond line")
        def leaves(path, indices): sys.exit("gone")
        def no_known_parameters(a, b): return None
        """,
        raises_on_import="raise RuntimeError('no GPU here')",
        exits_on_import="raise SystemExit(4)",
        ends_on_import="import os; os._exit(3)",
        broken="def decode(",
    )

    ran = inner.suite("--videodecode-decoder=rogue:well_behaved", decoder=decoder)

    ran.result.assert_outcomes(passed=1, failed=1)
    bad, good = ran.verdicts
    assert (bad["status"], good["status"]) == (status, "passed")
    assert said in bad["reason"]
    assert "\n" not in bad["reason"]
    assert "Traceback" not in ran.out
