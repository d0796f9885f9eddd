"""A value that cannot be used ends the run with one line: the option, what is wrong, the accepted form."""

from __future__ import annotations

import pytest
from inner_runs import InnerRuns

BAD = [
    ("decoder", "", "give at least one decoder"),
    ("decoder", "two words", "write NAME[,option=value…][@PYTHON]"),
    ("decoder", "nosuch", "registered are production, pyav"),
    ("decoder", "a.module.function", "did you mean a.module:function?"),
    ("codecs", "nope", "known are av1, h264, mpeg4"),
    ("codecs", "h264:bframe=2", "known are codec, container"),
    ("codecs", "h264:bframes=many", "expected int, got str"),
    ("codecs", "mpeg4:container=webm", "container"),
    ("checks", "nope", "choose from frame_identity, "),
    ("threads", "", "such as 0,1,2,4"),
    ("threads", "two", "whole numbers from 0 (automatic) to 256"),
    ("threads", "1,257", "whole numbers from 0 (automatic) to 256"),
    ("threads", "9" * 5000, "whole numbers from 0 (automatic) to 256"),
    ("timeout", "0", "seconds above 0, at most 86400"),
    ("timeout", "nan", "seconds above 0, at most 86400"),
    ("timeout", "soon", "seconds above 0, at most 86400"),
    ("memory", "63", "MiB from 64 to 1048576"),
    ("memory", "4G", "MiB from 64 to 1048576"),
    ("clips", "missing.mp4", "give a folder of video files, or a file"),
    ("clips", "x" * 5000, "give a folder of video files, or a file"),
    ("clips", "empty", "no video files in"),
    ("expected", "missing.toml", "give a TOML file of [[expected]] tables"),
    ("expected", "bad.toml", "not TOML"),
    ("require", "nope", "choose from all, av1, "),
    ("report", "bad.toml", "no folder; give one"),
    ("seed", "-1", "whole number from 0 to 4294967295"),
    ("seed", "", "whole number from 0 to 4294967295"),
    ("threads_env", "1 X", "such as VIDEO_DECODE_THREADS"),
    ("processes", "0", "whole number from 1 to 4096"),
    ("seconds", "0", "seconds above 0, at most 86400"),
    ("limits", "cpu_per_sample", "give METRIC=NUMBER above 0, such as cpu_per_sample=1.15"),
    ("limits", "cpu_per_sample=nan", "give METRIC=NUMBER above 0, such as cpu_per_sample=1.15"),
    ("limits", "speed=2", "choose from threads_per_process, "),
    ("against", "nope", "registered are production, pyav"),
    ("baseline", "empty", "is a folder; give a file"),
    ("benchmark_json", "empty", "is a folder; give a file"),
]


@pytest.fixture(autouse=True)
def _files(inner: InnerRuns) -> None:
    inner.file("bad.toml", "no = = toml")
    (inner.pytester.path / "empty").mkdir()


@pytest.mark.parametrize(("name", "value", "form"), BAD, ids=[f"{name}-{value:.20}" for name, value, _ in BAD])
def test_flag_is_refused_in_one_line(inner: InnerRuns, name: str, value: str, form: str) -> None:
    flag = f"--videodecode-{name.replace('_', '-')}"

    line = inner.tests(f"{flag}={value}").usage_error

    assert line.startswith(f"{flag}: ")
    assert form in line


# an empty list in the ini file is no value at all, so it is the flag alone that can be given one
IN_INI = [bad for bad in BAD if bad[:2] not in {("decoder", "")}]


@pytest.mark.parametrize(("name", "value", "form"), IN_INI, ids=[f"{name}-{value:.20}" for name, value, _ in IN_INI])
def test_ini_key_is_refused_in_one_line(inner: InnerRuns, name: str, value: str, form: str) -> None:
    inner.pytester.makeini(f"[pytest]\nvideodecode_{name} = {value}\n")

    in_use = "--videodecode-seed=1" if name == "timeout" else "--videodecode-timeout=9"
    line = inner.tests(in_use).usage_error

    assert line.startswith(f"ini key videodecode_{name}: ")
    assert form in line


def test_names_in_the_ini_file_cost_a_run_nothing_that_does_not_use_the_plugin(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nvideodecode_codecs = nope\nvideodecode_decoder = production\n")
    pytester.makepyfile("import sys\ndef test_unused():\n    assert 'numpy' not in sys.modules")

    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_bad_name_in_the_ini_file_fails_the_tests_that_use_it(inner: InnerRuns) -> None:
    inner.pytester.makeini("[pytest]\nvideodecode_codecs = nope\n")
    inner.pytester.makepyfile("def test_used(videodecode):\n    videodecode.clip('mpeg4')\ndef test_unused(): pass")

    ran = inner.tests()
    ran.result.assert_outcomes(failed=1, passed=1)
    assert "ini key videodecode_codecs: unknown codec 'nope'" in ran.out


def test_bad_ini_value_does_not_matter_where_a_flag_says_otherwise(inner: InnerRuns) -> None:
    inner.pytester.makeini("[pytest]\nvideodecode_timeout = soon\n")

    assert inner.tests("--videodecode-timeout=5").code == pytest.ExitCode.NO_TESTS_COLLECTED


def test_suite_without_any_clip_is_refused(inner: InnerRuns) -> None:
    assert "no clip is named; give codecs" in inner.suite(codecs="").usage_error


def test_refused_run_has_the_status_of_a_usage_error_for_the_shell(inner: InnerRuns) -> None:
    assert inner.suite_apart(codecs="nope").usage_error.startswith("--videodecode-codecs: unknown codec 'nope'")
