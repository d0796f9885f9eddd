from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pytest_videodecode.measure import compare
from pytest_videodecode.measure.compare import Compared, Setting
from pytest_videodecode.measure.total import add_up
from pytest_videodecode.measurement import Comparison, Direction, Seat, Split

Run = Callable[..., tuple[int, list[str], list[str]]]


def setting(decoder: str, rate: float, steady_s: float) -> Setting:
    seat = Seat(seat=0, samples=4, frames=72, wall_s=4 / rate, cpu_s=0.2, latencies_s=(1 / rate,) * 4, threads_peak=5)
    split = Split(open_s=0.003, first_frame_s=0.002, steady_s=steady_s)
    measured = add_up([seat], decoder=decoder, codec="av1", sample="2 x 9 of 33 frames", seconds=1, split=split)
    return Setting(measured=measured, rates=(rate, rate * 1.1, rate * 0.9), cpu_per_sample_s=(0.05, 0.051, 0.052))


THROUGHPUT = Comparison(
    before="production,threads=160",
    after="production,threads=1",
    metric="throughput",
    ratio=2.2,
    low=2.1,
    high=2.3,
    confidence=0.99,
    pairs=20,
    direction=Direction.FASTER,
    at_least=1.1,
)
FOUND = Compared(
    settings=(setting("production,threads=160", 80, 0.02), setting("production,threads=1", 176, 0.026)),
    verdicts=(THROUGHPUT,),
    by_metric=(THROUGHPUT, replace(THROUGHPUT, metric="samples per CPU second")),
    identical=True,
)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What would have been compared; ``FOUND`` is what comes of it."""
    calls: list[Any] = []

    def compare_all(decoders: Any, *rest: Any, **given: Any) -> Compared:
        calls.append((list(decoders), *rest, given))
        return FOUND

    monkeypatch.setattr(compare, "compare_all", compare_all)
    return calls


def test_table_has_both_metrics_and_what_a_single_stream_loses(run: Run, asked: list[Any]) -> None:
    status, out, _ = run("compare", "production,threads=160", "production,threads=1", "--processes", "28")
    assert status == 0
    assert [" ".join(line.split()) for line in out] == [
        "av1: 1 process, sample: 2 x 9 of 33 frames; ranges are the middle 80 % of rounds",
        "samples/s CPU ms a sample threads alone: sample first frame open",
        "production,threads=160 80.0 (73.6-86.4) 51.0 (50.2-51.8) 5 20.0 ms 2.0 ms 3.0 ms",
        "production,threads=1 176 (162-190) 51.0 (50.2-51.8) 5 26.0 ms 2.0 ms 3.0 ms",
        "pixels: identical in all seats of all settings",
        "production,threads=1 against production,threads=160 on av1: faster, by 110.0% at least "
        "(throughput x 2.200, 99% interval 2.100 to 2.300, 20 interleaved pairs)",
        "throughput: x 2.200 (2.100 to 2.300), faster",
        "samples per CPU second: x 2.200 (2.100 to 2.300), faster",
        "alone, one sample takes 30% longer: a single stream loses by it",
    ]
    ((decoders, codec, processes, _, given),) = asked
    assert (decoders, codec, processes) == (["production,threads=160", "production,threads=1"], "av1", 28)
    assert (given["seconds"], given["alone"]) == (45, True)


def test_decoder_may_be_compared_with_itself(run: Run, asked: list[Any]) -> None:
    assert run("compare", "production", "production", "--seconds", "30")[0] == 0
    assert asked[0][0] == ["production", "production"]
    assert asked[0][-1]["seconds"] == 30


def test_slower_or_other_pixels_is_status_one(run: Run, asked: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for found in (
        replace(FOUND, verdicts=(replace(THROUGHPUT, direction=Direction.SLOWER),)),
        replace(FOUND, identical=False),
    ):
        monkeypatch.setattr(compare, "compare_all", lambda *_, found=found, **__: found)
        assert run("compare", "production", "pyav")[0] == 1


def test_json_has_every_codec(run: Run, asked: list[Any]) -> None:
    status, out, _ = run("compare", "production", "pyav", "--codecs", "av1,h264", "--json")
    found = json.loads("\n".join(out))
    assert (status, found["schema"], list(found["codecs"])) == (0, "videodecode-compare/1", ["av1", "h264"])
    assert found["codecs"]["av1"]["verdicts"][0]["direction"] == "faster"
    assert [call[1] for call in asked] == ["av1", "h264"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nobody", "production"), "SPEC: decoder 'nobody' is unknown"),
        (("production", "no_such_module:f"), "no module named 'no_such_module'"),
        (("production", "production", "--seconds", "0.5"), "--seconds: 0.5 is no time for a comparison; give 5 to"),
        (("production", "production", "--seconds", "9999"), "--seconds: 9999 is no time for a comparison"),
        (("production", "production", "--seconds", "x"), "--seconds: 'x' is no "),
        (("production", "production", "--processes", "0"), "--processes: '0' is no number of processes"),
        (("production", "production", "--least", "0"), "--least: '0' is no share"),
        (("production", "production", "--codecs", ""), "--codecs: no clip is named"),
        (("production", "production", "--codecs", "nope"), "--codecs: unknown codec 'nope'"),
    ],
)
def test_value_that_cannot_be_used_is_one_line(run: Run, arguments: tuple[str, ...], words: str) -> None:
    status, out, errors = run("compare", *arguments)
    assert (status, out, len(errors)) == (2, [], 1)
    assert words in errors[0]
