"""--videodecode-codecs and videodecode_codecs."""

from __future__ import annotations

from inner_runs import InnerRuns, Ran

COLLECT = ("--collect-only", "-q")


def clips(ran: Ran) -> list[str]:
    names = [line.partition("[")[2].removesuffix("-determinism]") for line in ran.result.outlines if "::" in line]
    return [name.partition("-")[2] for name in names]


def test_codecs_are_tested_in_the_order_given_each_once(inner: InnerRuns) -> None:
    assert clips(inner.suite(*COLLECT, codecs=" mpeg4, h264 ,,mpeg4")) == ["mpeg4", "h264"]


def test_flag_counts_against_the_ini_key(inner: InnerRuns) -> None:
    inner.pytester.makeini("[pytest]\nvideodecode_codecs = h264, hevc\n")

    assert clips(inner.suite(*COLLECT, codecs=None)) == ["h264", "hevc"]
    assert clips(inner.suite(*COLLECT, codecs="mpeg4")) == ["mpeg4"]


def test_three_codecs_are_the_default(inner: InnerRuns) -> None:
    assert clips(inner.suite(*COLLECT, codecs=None)) == ["av1", "h264", "mpeg4"]


def test_empty_text_counts_against_the_ini_key(inner: InnerRuns) -> None:
    inner.pytester.makeini("[pytest]\nvideodecode_codecs = h264\n")
    file = inner.file("only.mp4")

    assert clips(inner.suite(*COLLECT, codecs="", clips=str(file))) == ["only.mp4"]


def test_recipes_and_named_clips_stand_beside_codecs(inner: InnerRuns) -> None:
    ran = inner.suite(*COLLECT, codecs="mpeg4:gop=4:frames=12,mpeg4-bframes-avi,h264:gop=8,h264")

    assert clips(ran) == ["mpeg4:frames=12:gop=4", "mpeg4:container=avi:bframes=2", "h264"]


def test_replay_command_of_a_recipe_names_it(inner: InnerRuns) -> None:
    ran = inner.suite(decoder="rogue:nothing", codecs="mpeg4:frames=12")

    assert ran.verdict["replay"] == "videodecode check rogue:nothing --checks determinism --codecs mpeg4:frames=12"


def test_missing_encoder_is_unsupported_with_its_reason(inner: InnerRuns) -> None:
    inner.pytester.makeconftest(
        """
        from pytest_videodecode.clips.cache import ClipCache
        from pytest_videodecode.errors import Unsupported
        import pytest

        @pytest.fixture(autouse=True)
        def _no_encoder(monkeypatch):
            def clip(self, spec):
                raise Unsupported(f"no encoder for {spec.codec}; install one")
            monkeypatch.setattr(ClipCache, "clip", clip)
        """
    )
    inner.pytester.makepyfile(
        test_own="""
        def test_skipped(videodecode):
            videodecode.clip("mpeg4")

        def test_verdict(videodecode):
            verdict = videodecode.run_check("determinism", "mpeg4", "pyav")
            assert (verdict.status, verdict.reason) == ("unsupported", "no encoder for mpeg4; install one")
        """
    )

    ran = inner.tests("-rs")

    ran.result.assert_outcomes(passed=1, skipped=1)
    assert "test_own.py:2: no encoder for mpeg4; install one" in ran.out
    assert "1 x unsupported: determinism of pyav: no encoder for mpeg4; install one (mpeg4)" in ran.summary
