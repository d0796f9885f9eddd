"""The fixture ``videodecode``, and the decoders and clips of a run as parameters."""

from __future__ import annotations

import pytest
from inner_runs import InnerRuns, Ran


def run(inner: InnerRuns, body: str, *arguments: str) -> Ran:
    inner.pytester.makepyfile(test_own=body)
    return inner.tests("--videodecode-report=out", "--videodecode-decoder=pyav", *arguments)


CLIPS = """
from fractions import Fraction
from pathlib import Path
from pytest_videodecode.model import ClipSpec

def test_default(videodecode):
    assert videodecode.clip().name == "av1"

def test_recipe(videodecode):
    clip = videodecode.clip("mpeg4:frames=12:gop=4")
    assert (clip.frames, clip.keyframes, clip.codec) == (12, (0, 4, 8), "mpeg4")

def test_fields(videodecode):
    clip = videodecode.clip(codec="mpeg4", frames=12, gop=4)
    assert clip == videodecode.clip("mpeg4:frames=12:gop=4")

def test_fields_over_a_recipe(videodecode):
    assert videodecode.clip("mpeg4:frames=12", gop=4).name == "mpeg4:frames=12:gop=4"

def test_rates(videodecode):
    for rate in (25, 25.0, "25", Fraction(25), "25/1"):
        assert videodecode.clip("mpeg4:frames=12", gop=4, rate=rate).times[1] == Fraction(1, 25)

def test_spec(videodecode):
    spec = ClipSpec(codec="mpeg4", frames=12, gop=4)
    assert videodecode.clip(spec).spec == spec

def test_file(videodecode):
    made = videodecode.clip("mpeg4:frames=12:gop=4")
    real = videodecode.clip(Path(made.path))
    assert (real.frames, real.keyframes, real.times, real.spec) == (12, (0, 4, 8), made.times, None)
"""


def test_clips_are_named_by_recipe_fields_spec_or_file(inner: InnerRuns) -> None:
    run(inner, CLIPS).result.assert_outcomes(passed=7)


DECODES = """
import numpy as np
import pytest

def test_indices(videodecode):
    clip = videodecode.clip("mpeg4")
    outcome = videodecode.decode(clip, [3, 40, 3])
    assert outcome.kind == "frames"
    assert (outcome.frames.shape, outcome.frames.dtype) == ((3, clip.height, clip.width, 3), np.uint8)
    assert clip.read(outcome.frames, [3, 40, 3]) == [3, 40, 3]

def test_timestamps_and_other_decoder(videodecode):
    clip = videodecode.clip("mpeg4")
    outcome = videodecode.decode(clip, timestamps=[float(clip.times[7])], decoder="production", threads=1)
    assert clip.read(outcome.frames, [7]) == [7]

def test_any_file(videodecode, tmp_path):
    file = tmp_path / "text.mp4"
    file.write_text("these are words")
    outcome = videodecode.decode(file, [0])
    assert outcome.kind == "error"
    assert outcome.error.type.endswith("InvalidDataError")

def test_crash(videodecode):
    assert str(videodecode.decode("any", [0], decoder="rogue:crashes")) == "crash (SIGSEGV)"

def test_neither(videodecode):
    with pytest.raises(TypeError, match="takes indices or timestamps, one of the two"):
        videodecode.decode("any")

def test_both(videodecode):
    with pytest.raises(TypeError, match="takes indices or timestamps, one of the two"):
        videodecode.decode("any", [0], timestamps=[0.0])

def test_info(videodecode):
    assert "av" in videodecode.info().versions
    assert videodecode.info("production").thread_cap == 2
"""


def test_decodes_end_in_outcomes(inner: InnerRuns) -> None:
    run(inner, DECODES).result.assert_outcomes(passed=7)


def test_verdict_of_run_check_fails_nothing_and_is_in_summary_and_report(inner: InnerRuns) -> None:
    ran = run(
        inner,
        """
        def test_verdict(videodecode):
            verdict = videodecode.run_check("frame_identity", "mpeg4", "rogue:too_few")
            assert verdict.status == "failed"
        """,
    )

    ran.result.assert_outcomes(passed=1)
    assert (ran.verdict["decoder"], ran.verdict["clip"], ran.verdict["status"]) == ("rogue:too_few", "mpeg4", "failed")
    assert ran.matrix == [["frame_identity"], ["rogue:too_few", "0/1!"]]


def test_assert_check_fails_by_an_assertion_with_our_message(inner: InnerRuns) -> None:
    ran = run(
        inner,
        """
        import pytest
        from pytest_videodecode.errors import CheckFailed

        def test_raises(videodecode):
            with pytest.raises(AssertionError, match="asked frame 0, got ") as caught:
                videodecode.assert_check("frame_identity", videodecode.clip("mpeg4"), "rogue:too_few")
            assert caught.type is CheckFailed

        def test_passes(videodecode):
            assert videodecode.assert_check("frame_identity", videodecode.clip("mpeg4")).status == "passed"

        def test_fails(videodecode):
            videodecode.assert_check("frame_identity", "mpeg4", "rogue:too_few")
        """,
    )

    ran.result.assert_outcomes(passed=2, failed=1)
    ran.result.stdout.fnmatch_lines(
        [
            '>*videodecode.assert_check("frame_identity", "mpeg4", "rogue:too_few")',
            "E *CheckFailed: FAILED frame_identity of rogue:too_few on mpeg4: asked frame 0, got *",
            "E *again: videodecode check rogue:too_few --checks frame_identity --codecs mpeg4",
        ]
    )
    assert "fixtures.py" not in ran.out


def test_assert_check_skips_what_cannot_be_checked(inner: InnerRuns) -> None:
    ran = run(
        inner,
        """
        def test_skips(videodecode):
            videodecode.assert_check("thread_parity", "mpeg4", "rogue:well_behaved")
        """,
        "-rs",
    )

    ran.result.assert_outcomes(skipped=1)
    ran.result.stdout.fnmatch_lines(["SKIPPED [[]1[]] test_own.py:2: no thread count reaches this decoder*"])


def test_function_itself_may_be_the_decoder(inner: InnerRuns) -> None:
    ran = run(
        inner,
        """
        import rogue

        class Reader:
            @staticmethod
            def decode(path, indices):
                return rogue.well_behaved(path, indices)

        def test_function(videodecode):
            assert videodecode.decode("any", [0, 1], decoder=rogue.well_behaved).count == 2
            assert videodecode.info(rogue.well_behaved).name == "rogue:well_behaved"

        def test_function_of_a_class_in_the_test_module(videodecode):
            assert videodecode.decode("any", [0, 1], decoder=Reader.decode).count == 2
        """,
    )

    ran.result.assert_outcomes(passed=2)


def test_function_that_no_worker_can_import_is_refused_in_one_line(inner: InnerRuns) -> None:
    ran = run(
        inner,
        """
        import functools
        import pytest
        import rogue
        from pytest_videodecode.errors import OptionError

        class Reader:
            def decode(self, path, indices):
                return rogue.well_behaved(path, indices)

        def wrapped(path, indices):
            return rogue.well_behaved(path, indices)

        inner, wrapped = wrapped, functools.wraps(wrapped)(lambda *arguments: None)

        def local(path, indices):
            return None

        def cases():
            def local(path, indices):
                return None
            return [lambda path, indices: None, local, Reader().decode, functools.partial(local), inner, 5]

        @pytest.mark.parametrize("number", range(6))
        def test_refused(videodecode, number):
            with pytest.raises(OptionError) as caught:
                videodecode.decode("any", [0], decoder=cases()[number])
            assert str(caught.value).endswith("cannot be imported by a worker; give a function of a module")
        """,
    )

    ran.result.assert_outcomes(passed=6)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ('clip("mpeg4:frame=12")', "FormError: clip 'mpeg4:frame=12': unknown field 'frame'; known are codec"),
        ('clip("mpeg4", frame=12)', "FormError: clip: unknown field 'frame'; known are codec"),
        ('clip("mpeg4", frames="12")', "FormError: clip.frames: expected int, got str"),
        ('clip("mpeg4", rate="fast")', "FormError: clip.rate: expected a fraction such as '30000/1001', got 'fast'"),
        ('clip("mpeg4", rate="1e999999999")', "FormError: clip.rate: expected a fraction"),
        ('clip("mpeg4", frames=0)', "ClipError: clip mpeg4:frames=0: 0 frames are not possible"),
        ('clip("vhs")', "ClipError: clip vhs: "),
        ('clip(__import__("pathlib").Path("no.mp4"))', "ClipError: no.mp4: no such file can be found"),
        ('clip(__import__("pathlib").Path("no.mp4"), gop=4)', "FormError: clip no.mp4: gop is a field of a recipe"),
        ('run_check("nope", "mpeg4")', "OptionError: there is no check 'nope'; choose from frame_identity"),
        ('info("nosuch")', "DecoderSpecError: decoder 'nosuch' is unknown"),
        ('decode("any", [0], decoder="pyav@/no/python")', "WorkerError: cannot start /no/python: No such file"),
    ],
)
def test_fault_of_the_caller_shows_the_line_of_the_test(inner: InnerRuns, call: str, said: str) -> None:
    ran = run(inner, f"def test_own(videodecode):\n    videodecode.{call}\n")

    ran.result.assert_outcomes(failed=1)
    assert [line for line in ran.result.outlines if line.startswith("E ") and said in line]
    assert "fixtures.py" not in ran.out
    assert "session.py" not in ran.out


def test_decoders_and_clips_of_the_run_are_parameters(inner: InnerRuns) -> None:
    ran = run(
        inner,
        """
        def test_clip(videodecode_clip): pass

        def test_both(videodecode, videodecode_decoder, videodecode_clip):
            videodecode.assert_check("frame_identity", videodecode_clip, videodecode_decoder)
        """,
        "--videodecode-decoder=production",
        "--videodecode-codecs=mpeg4,h264:gop=4",
        "-v",
    )

    ran.result.assert_outcomes(passed=6)
    ran.result.stdout.fnmatch_lines_random(
        [
            "test_own.py::test_clip[[]mpeg4] PASSED*",
            "test_own.py::test_clip[[]h264:gop=4] PASSED*",
            "test_own.py::test_both[[]pyav-mpeg4] PASSED*",
            "test_own.py::test_both[[]production-h264:gop=4] PASSED*",
        ]
    )
    assert [(v["decoder"], v["clip"]) for v in ran.verdicts] == [
        ("pyav", "mpeg4"),
        ("pyav", "h264:gop=4"),
        ("production", "mpeg4"),
        ("production", "h264:gop=4"),
    ]


def test_clip_that_is_no_video_is_one_line_and_costs_no_other_test(inner: InnerRuns) -> None:
    inner.file("empty.mp4")

    ran = run(
        inner,
        "def test_clip(videodecode_clip): pass",
        "--videodecode-codecs=mpeg4",
        "--videodecode-clips=empty.mp4",
    )

    ran.result.assert_outcomes(passed=1, errors=1)
    assert "empty.mp4: an empty file; give a video file" in ran.result.outlines
    assert "fixtures.py" not in ran.out
