"""The marker ``videodecode(...)``: settings of one test."""

from __future__ import annotations

import pytest
from inner_runs import InnerRuns


def test_settings_are_those_of_the_marked_test_only(inner: InnerRuns) -> None:
    inner.pytester.makepyfile(
        test_own="""
        import pytest

        @pytest.mark.videodecode(decoder=["pyav", "production"], threads=(1, 3), timeout=5, seed=0, codecs="h264")
        def test_marked(videodecode, videodecode_decoder, videodecode_clip):
            settings = videodecode._run.session.settings
            assert (settings.threads, settings.timeout, settings.seed) == ((1, 3), 5.0, 0)
            assert settings.decoder == ("pyav", "production")
            assert videodecode_clip.name == "h264"

        def test_plain(videodecode, videodecode_decoder, videodecode_clip):
            settings = videodecode._run.session.settings
            assert (settings.threads, settings.timeout, settings.seed) == ((2,), 20.0, 9)
            assert (videodecode_decoder, videodecode_clip.name) == ("pyav", "mpeg4")
        """
    )

    ran = inner.tests(
        "--videodecode-decoder=pyav",
        "--videodecode-codecs=mpeg4",
        "--videodecode-threads=2",
        "--videodecode-seed=9",
        "-v",
    )

    ran.result.assert_outcomes(passed=3)
    ran.result.stdout.fnmatch_lines_random(
        [
            "test_own.py::test_marked[[]pyav-h264] PASSED*",
            "test_own.py::test_marked[[]production-h264] PASSED*",
            "test_own.py::test_plain[[]pyav-mpeg4] PASSED*",
        ]
    )


def test_marker_of_a_class_or_module_counts(inner: InnerRuns) -> None:
    inner.pytester.makepyfile(
        test_own="""
        import pytest
        pytestmark = pytest.mark.videodecode(codecs="mpeg4", decoder="pyav")

        class TestOwn:
            def test_one(self, videodecode_clip, videodecode_decoder):
                assert (videodecode_clip.name, videodecode_decoder) == ("mpeg4", "pyav")
        """
    )

    inner.tests().result.assert_outcomes(passed=1)


def test_timeout_of_the_marker_is_that_of_its_decodes(inner: InnerRuns) -> None:
    inner.pytester.makepyfile(
        test_own="""
        import pytest

        @pytest.mark.videodecode(timeout=0.3)
        def test_one(videodecode):
            outcome = videodecode.decode("any", [0], decoder="rogue:waits_for_ever")
            assert str(outcome).startswith("hang after 0.3 s, GIL released")
        """
    )

    inner.tests().result.assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("codec='h264'", "marker videodecode(codec=...): no such setting; known are decoder, codecs"),
        ("codecs='nope'", "marker videodecode(codecs=...): unknown codec 'nope'; known are av1"),
        ("checks='nope'", "marker videodecode(checks=...): there is no check 'nope'; choose from frame_identity"),
        ("decoder='nosuch'", "marker videodecode(decoder=...): decoder 'nosuch' is unknown"),
        ("decoder=5", "marker videodecode(decoder=...): 5 is no text; give one, or a list of them"),
        ("threads=[1, True]", "marker videodecode(threads=...): 'True' is no thread count; give whole numbers"),
        ("timeout=None", "marker videodecode(timeout=...): None is no limit; give seconds above 0"),
        ("codecs=[]", "no clip is named; give codecs"),
        ("report='out'", "marker videodecode(report=...): belongs to the whole run; set it by --videodecode-report"),
        ("memory=100", "marker videodecode(memory=...): belongs to the whole run; set it by --videodecode-memory"),
        ("'h264'", "marker videodecode: give settings by name, such as videodecode(threads=[1, 2])"),
    ],
)
def test_bad_marker_is_one_line_and_costs_no_other_test(inner: InnerRuns, arguments: str, said: str) -> None:
    inner.pytester.makepyfile(
        test_own=f"""
        import pytest

        @pytest.mark.videodecode({arguments})
        def test_bad(videodecode_clip):
            pass

        def test_good(videodecode):
            assert videodecode.info("pyav").name == "pyav"
        """
    )

    ran = inner.tests("--videodecode-codecs=mpeg4")

    ran.result.assert_outcomes(passed=1, errors=1)
    assert [line for line in ran.result.outlines if line.startswith(said)]
    assert "Traceback" not in ran.out
    assert "run.py" not in ran.out


def test_marker_is_known_under_strict_markers(inner: InnerRuns) -> None:
    inner.pytester.makepyfile(
        test_own="""
        import pytest

        @pytest.mark.videodecode(timeout=1)
        def test_one():
            pass
        """
    )

    inner.tests("--strict-markers").result.assert_outcomes(passed=1)
    assert (
        "@pytest.mark.videodecode(decoder=..., codecs=..., threads=..., timeout=...): " in inner.tests("--markers").out
    )
