"""``--videodecode-baseline`` and its company: what fails a run, what is written, what is never lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inner_runs import InnerRuns
from measured import MACHINE, compared, measured

from pytest_videodecode import measuring
from pytest_videodecode.measure.baseline import Baseline, dumps, updated
from pytest_videodecode.measure.machine import this_machine
from pytest_videodecode.measure.sample import SampleShape
from pytest_videodecode.measurement import Comparison, Machine

CODEC = "mpeg4:width=160:height=96"
FLAGS = (
    "--videodecode-throughput",
    "--videodecode-decoder=pyav",
    f"--videodecode-codecs={CODEC}",
    "--videodecode-seconds=0.2",
    "--videodecode-processes=1",
    "--videodecode-baseline=base.json",
)
#: What no noise of the machine that the tests run on can pass.
WIDE = "--videodecode-limits=cpu_per_sample=100,voluntary_switches=1000,threads_per_process=2,decoded_per_sample=2"


def change(path: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    data = json.loads(path.read_text(encoding="utf-8"))
    edit(data)
    path.write_text(json.dumps(data), encoding="utf-8")


def test_baseline_is_written_held_to_and_its_limits_can_be_changed(inner: InnerRuns) -> None:
    base = inner.pytester.path / "base.json"

    assert inner.tests(*FLAGS, "--videodecode-update-baseline", WIDE).code == 0
    (entry,) = json.loads(base.read_text(encoding="utf-8"))["entries"]
    assert (entry["decoder"], entry["codec"], entry["processes"]) == ("pyav", CODEC, 1)

    change(base, lambda data: data["entries"][0]["metrics"].update(decoded_per_sample=1.0))
    held = base.read_bytes()
    bad = inner.tests(*FLAGS)
    assert bad.code == pytest.ExitCode.TESTS_FAILED
    assert "gate: 4 stable figures against the baseline base.json: 1 regression" in bad.out
    (line,) = [line for line in bad.result.outlines if line.startswith("FAILED ")]
    assert line.startswith(f"FAILED decoded_per_sample of pyav on {CODEC}: was 1, now ")
    assert line.endswith(", limit 2 (stable)")
    assert base.read_bytes() == held

    inner.pytester.makeini("[pytest]\nvideodecode_limits = decoded_per_sample=1000\n")
    good = inner.tests(*FLAGS)
    assert good.code == 0
    assert "gate: 4 stable figures against the baseline base.json: no regression" in good.out


def baseline(machine: Machine, **figures: Any) -> Baseline:
    """That of one process of pyav, with the sample that is measured here."""
    sample = SampleShape().name
    wide = {"cpu_per_sample_s": 1e3, "voluntary_per_sample": 1e6, "threads_peak": 999, "decoded_per_sample": 1e6}
    one = measured(decoder="pyav", codec=CODEC, sample=sample, processes=1, **{**wide, **figures})
    return updated(None, [one], machine, 0, {})


def test_baseline_of_another_machine_codec_set_and_version_is_said_to_be_so(inner: InnerRuns) -> None:
    before = baseline(replace(MACHINE, cpu="Another CPU", cores=640))
    (entry,) = before.entries
    inner.file("base.json", dumps(replace(before, entries=(entry, replace(entry, codec="vp9")))))

    ran = inner.tests(*FLAGS)

    assert ran.code == 0
    notes = [line for line in ran.result.outlines if line.startswith("note: ")]
    assert f"note: pyav on {CODEC}: the baseline is of another machine (Another CPU, 640 cores, " in notes[0]
    assert "other versions: " in notes[0]
    assert notes[0].endswith("threads_per_process, voluntary_switches, cpu_per_sample and wall clock are not compared")
    assert notes[1] == "note: pyav on vp9 is in the baseline and was not measured"
    assert "gate: 1 stable figures against" in ran.out


@pytest.mark.parametrize("update", [(), ("--videodecode-update-baseline",)], ids=["compared", "updated"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "base.json: baseline: not JSON"),
        ("\x89PNG", "base.json: baseline: not JSON"),
        ('{"schema": "videodecode-baseline/9"}', "baseline base.json: unknown schema 'videodecode-baseline/9'"),
    ],
)
def test_file_that_is_no_baseline_is_refused_and_kept(
    inner: InnerRuns, content: str, said: str, update: tuple[str, ...]
) -> None:
    base = inner.file("base.json", content)
    assert inner.tests(*FLAGS, *update).usage_error.startswith(said)
    assert base.read_text(encoding="utf-8") == content


def test_what_failed_leaves_the_baseline_as_it_was(inner: InnerRuns) -> None:
    content = '{"schema": "videodecode-baseline/1"}'
    base = inner.file("base.json", content)
    inner.pytester.makepyfile(
        unsteady="""
        from seated import right

        calls = 0

        def decode(path: str, indices: list):
            global calls
            calls += 1
            frames = [picture.copy() for picture in right(path, indices)]
            if calls > 20:  # those before are held against the truth, and rehearsed
                frames[0][0] = calls % 251
            return frames
        """
    )

    flags = [flag.replace("=pyav", "=unsteady:decode") for flag in FLAGS]
    ran = inner.tests(*flags, "--videodecode-update-baseline")

    assert ran.code == pytest.ExitCode.TESTS_FAILED
    assert f"FAILED pixels of unsteady:decode on {CODEC} are not the same everywhere" in ran.out
    assert "gate: the baseline base.json is left as it was, for what failed" in ran.out
    assert base.read_text(encoding="utf-8") == content


def test_marker_and_ini_set_the_limits_of_a_test_of_ones_own(inner: InnerRuns) -> None:
    inner.pytester.makeini(
        f"""
        [pytest]
        videodecode_baseline = base.json
        videodecode_decoder = pyav
        videodecode_codecs = {CODEC}
        videodecode_processes = 1
        videodecode_seconds = 0.2
        """
    )
    inner.file("base.json", dumps(baseline(this_machine(), decoded_per_sample=1.0)))
    inner.pytester.makepyfile(
        f"""
        import pytest

        @pytest.fixture(scope="module")
        def measured(videodecode):
            return videodecode.measure("{CODEC}")

        def test_held(videodecode, measured):
            videodecode.assert_no_regression(measured)

        @pytest.mark.videodecode(limits={{"decoded_per_sample": 1000}})
        def test_wide(videodecode, measured):
            videodecode.assert_no_regression(measured)
        """
    )

    ran = inner.tests()

    ran.result.assert_outcomes(failed=1, passed=1)
    assert f"decoded_per_sample of pyav on {CODEC}: was 1, now " in ran.out


def test_clock_counts_as_an_interleaved_ratio_with_the_decoder_at_hand(
    inner: InnerRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str, str]] = []

    def fake(before: str, after: str, codec: str, *_: Any, **__: Any) -> tuple[Comparison, ...]:
        asked.append((before, after, codec))
        return (compared(before=before, after=after),)

    monkeypatch.setattr(measuring, "interleaved", fake)

    ran = inner.tests(*FLAGS[:-1], "--videodecode-against=pyav,threads=1")

    assert asked == [("pyav,threads=1", "pyav", CODEC)]
    assert ran.code == pytest.ExitCode.TESTS_FAILED
    assert f"pyav against pyav,threads=1 on {CODEC}: slower, by 7.0% at least" in ran.out
    assert f"FAILED throughput of pyav on {CODEC}: was 1, now 0.9, limit 1 (wall, interleaved with " in ran.out
    assert f"gate: interleaved rounds with pyav,threads=1 (throughput on {CODEC}): 1 regression" in ran.out
