"""``--videodecode-throughput``: the plugin's own processes, or one seat for each of xdist's."""

from __future__ import annotations

import json
from typing import Any

import pytest
from inner_runs import REPORT, InnerRuns, Ran

CODEC = "mpeg4:width=160:height=96"
SMALL = (
    "--videodecode-throughput",
    f"--videodecode-codecs={CODEC}",
    "--videodecode-seconds=0.2",
    f"--videodecode-report={REPORT}",
)


def measured(inner: InnerRuns) -> list[dict[str, Any]]:
    """The measurements of ``throughput.json``."""
    text = (inner.pytester.path / REPORT / "throughput.json").read_text(encoding="utf-8")
    return list(json.loads(text)["measurements"])


def section(ran: Ran) -> list[str]:
    """The lines of the section on throughput."""
    lines = ran.result.outlines
    start = next(n for n, line in enumerate(lines) if line.strip("= ") == "videodecode throughput") + 1
    end = next(n for n, line in enumerate(lines) if n > start and line.startswith("===="))
    return lines[start:end]


def test_seats_of_xdist_and_own_ones_agree_and_the_tests_run_after_them(inner: InnerRuns) -> None:
    inner.pytester.makepyfile("def test_own(): pass")
    decoder = "--videodecode-decoder=pyav"

    spread = inner.tests("-n2", decoder, *SMALL, apart=True)
    (of_xdist,) = measured(inner)
    alone = inner.tests("--videodecode-processes=2", decoder, *SMALL, apart=True)
    (own,) = measured(inner)

    for ran, found in ((spread, of_xdist), (alone, own)):
        ran.result.assert_outcomes(passed=1)
        assert ran.code == 0
        assert (found["processes"], found["lost"], found["identical"]) == (2, [], True)
        assert found["samples"] >= 2
        assert f"pyav on {CODEC}: alone" in ran.out
        assert section(ran)[0] == "2 processes, 0.2 s, sample: 2 x 9 of 33 frames, 256x256, 30 fps, GOP 2"
    for same in ("decoder", "codec", "sample", "versions", "threads_peak"):
        assert of_xdist[same] == own[same]


def test_process_that_dies_and_one_that_hangs_are_named_and_the_rest_reported(inner: InnerRuns) -> None:
    inner.pytester.makeconftest(
        """
        import os
        import pytest

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtestloop(session):
            if os.environ.get("PYTEST_XDIST_WORKER") == "gw1":
                os._exit(3)
        """
    )
    inner.pytester.makepyfile(
        hangs_in_gw2="""
        import os, threading
        from seated import right

        calls = 0

        def decode(path: str, indices: list):
            global calls
            calls += 1
            if os.environ.get("PYTEST_XDIST_WORKER") == "gw2" and calls > 20:
                threading.Event().wait()
            return right(path, indices)
        """,
        test_own="def test_own(): pass",
    )

    ran = inner.tests(
        "-n3", "--videodecode-decoder=hangs_in_gw2:decode", "--videodecode-timeout=4", *SMALL, apart=True
    )

    assert ran.code == pytest.ExitCode.TESTS_FAILED
    (found,) = measured(inner)
    assert (found["processes"], len(found["lost"]), found["samples"] > 0) == (3, 2, True)
    assert found["lost"][0].startswith("seat 1: xdist's process gw1 died (")
    assert found["lost"][1].startswith("seat 2: hang ")
    failed = [line for line in section(ran) if line.startswith("FAILED ")]
    assert [line.partition(": lost ")[2] for line in failed] == found["lost"]


def test_xdist_with_no_processes_is_no_xdist_and_all_files_are_written(
    inner: InnerRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = inner.file("page.md", "before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    decoders = ("--videodecode-decoder=pyav", "--videodecode-decoder=lerobot")
    arguments = ("-n0", "--videodecode-processes=1", "--videodecode-benchmark-json=new/bench.json")

    ran = inner.tests(*arguments, *decoders, *SMALL, apart=True)

    assert ran.code == 0, "it found no test, and did what it was asked"
    (found,) = measured(inner)
    assert (found["decoder"], found["processes"]) == ("pyav", 1)
    assert any(line.startswith(f"unsupported: lerobot on {CODEC}: ") for line in section(ran))
    header, row = (inner.pytester.path / REPORT / "throughput.csv").read_text(encoding="utf-8").splitlines()
    assert header.startswith("decoder,codec,sample,processes,")
    assert row.startswith(f"pyav,{CODEC},")
    summary = (inner.pytester.path / REPORT / "summary.md").read_text(encoding="utf-8")
    assert page.read_text(encoding="utf-8") == "before\n" + summary
    assert f"| pyav | {CODEC} |" in summary
    (benchmark,) = json.loads((inner.pytester.path / "new" / "bench.json").read_text(encoding="utf-8"))["benchmarks"]
    assert benchmark["fullname"] == f"videodecode::throughput[pyav-{CODEC}]"
    assert benchmark["stats"]["rounds"] == found["samples"]
    assert list(inner.pytester.path.glob(".videodecode/journal/*")) == []


def test_nothing_is_measured_where_tests_are_only_collected(inner: InnerRuns) -> None:
    inner.pytester.makepyfile("def test_own(): pass")
    ran = inner.tests("--collect-only", *SMALL)
    assert ran.code == 0
    assert "alone" not in ran.out
    assert not (inner.pytester.path / REPORT).exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["-n2", "--videodecode-processes=2"],
            "--videodecode-processes: under xdist every process of -n takes a seat",
        ),
        (["--videodecode-processes=0"], "--videodecode-processes: '0' is no number of processes"),
        (["--videodecode-codecs="], "throughput: no codec is named"),
        (["--videodecode-seconds=-1"], "--videodecode-seconds: '-1' is no limit"),
        (["--videodecode-limits=cpu=1"], "--videodecode-limits: 'cpu' is no metric of the gate; choose from threads_"),
        (["--videodecode-limits=cpu_per_sample"], "--videodecode-limits: 'cpu_per_sample' is no limit; give METRIC="),
        (["--videodecode-against=nope"], "--videodecode-against: decoder 'nope' is unknown"),
        (["--videodecode-against=pyav@/no/python"], "cannot compare with pyav@/no/python: cannot start /no/python"),
        (["--videodecode-benchmark-json=."], "--videodecode-benchmark-json: . is a folder"),
        (["--videodecode-update-baseline"], "--videodecode-update-baseline: name the file by --videodecode-baseline"),
        (["--videodecode-baseline=none.json"], "there is no baseline none.json; make it with"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(inner: InnerRuns, arguments: list[str], said: str) -> None:
    assert inner.tests(*SMALL, *arguments).usage_error.startswith(said)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--videodecode-decoder=rogue:too_few"], "rogue:too_few is not measured on "),
        (["--videodecode-decoder=pyav@/no/python"], "cannot start /no/python: "),
        (["--videodecode-decoder=pyav", "--videodecode-processes=4000"], "4000 seats "),
    ],
)
def test_what_cannot_be_seated_ends_the_run_before_any_test(inner: InnerRuns, arguments: list[str], said: str) -> None:
    inner.pytester.makepyfile("def test_own(): pass")
    ran = inner.tests(*SMALL, *arguments)
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in ran.result.errlines if line]
    assert line.startswith(f"ERROR: {said}")
    assert "test_own" not in ran.out
    assert not (inner.pytester.path / REPORT).exists()


def test_update_without_a_measurement_is_refused(inner: InnerRuns) -> None:
    line = inner.tests("--videodecode-update-baseline").usage_error
    assert line == "--videodecode-update-baseline: nothing is measured to write; add --videodecode-throughput"
