from __future__ import annotations

import json

import pytest
from planted import Healthy, error, toy_clip

from pytest_videodecode.checks.base import MAX_LISTED, Faults, Finding, Subject, one_line, passed, run
from pytest_videodecode.errors import DecoderContractError, DecoderSpecError, Unsupported, WorkerError
from pytest_videodecode.model import DecodeRequest, Outcome, OutcomeKind, Status

REQUEST = DecodeRequest(path="toy.mp4", indices=(0,))


def asks_twice(subject: Subject) -> Finding:
    subject.decode(REQUEST)
    subject.decode(REQUEST)
    return passed(seen=2)


def test_verdict_bears_the_names_and_counts_the_requests() -> None:
    verdict = run(asks_twice, Healthy(toy_clip(3)).subject())
    assert (verdict.check, verdict.decoder, verdict.clip) == ("asks_twice", "planted", "toy")
    assert verdict.status is Status.PASSED
    assert verdict.evidence == {"seen": 2, "requests": 2}


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (DecoderContractError, Status.FAILED),
        (Unsupported, Status.UNSUPPORTED),
        (WorkerError, Status.ERROR),
        (DecoderSpecError, Status.ERROR),
    ],
)
def test_own_errors_settle_the_verdict_at_once(kind: type[Exception], status: Status) -> None:
    outcome = Outcome(kind=OutcomeKind.ERROR, error=error(kind, "the decoder returned None;\n return frames"))
    verdict = run(asks_twice, Healthy(toy_clip(3)).subject(decode=lambda request: outcome))
    assert (verdict.status, verdict.reason) == (status, "the decoder returned None; return frames")
    assert verdict.evidence["requests"] == 1


def test_error_of_the_same_name_from_elsewhere_settles_nothing() -> None:
    other = type("Unsupported", (Exception,), {"__module__": "mylab.video"})
    outcome = Outcome(kind=OutcomeKind.ERROR, error=error(other))
    assert run(asks_twice, Healthy(toy_clip(3)).subject(decode=lambda request: outcome)).status is Status.PASSED


def test_fault_of_a_check_passes_through() -> None:
    def broken(subject: Subject) -> Finding:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(broken, Healthy(toy_clip(3)).subject())


def test_faults_give_the_first_as_reason_and_its_request() -> None:
    faults = Faults()
    for number in range(20):
        faults.add(f"fault {number}", DecodeRequest(path="toy.mp4", indices=(number,)))
    finding = faults.finding(threads=[1, 2])
    assert finding.status is Status.FAILED
    assert finding.reason == "fault 0; 19 more wrong"
    assert finding.evidence is not None
    assert finding.evidence["request"]["indices"] == [0]
    assert len(finding.evidence["wrong"]) == MAX_LISTED
    assert json.loads(json.dumps(finding.evidence)) == finding.evidence


def test_reported_differences_do_not_fail() -> None:
    faults = Faults()
    faults.add("differs", REQUEST, judged=False)
    finding = faults.finding()
    assert finding.status is Status.PASSED
    assert finding.evidence == {"not_judged": ["differs"], "not_judged_in_all": 1}


def test_one_line_is_one_short_line() -> None:
    assert one_line("a\n  b\tc") == "a b c"
    assert len(one_line("x" * 1000)) == 300
