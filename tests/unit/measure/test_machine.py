from __future__ import annotations

import json
import os

from pytest_videodecode.jsonform import from_json, to_json
from pytest_videodecode.measure.machine import this_machine
from pytest_videodecode.measurement import Machine


def test_machine_says_what_it_is_and_survives_json() -> None:
    machine = this_machine()
    assert machine.cpu
    assert 1 <= machine.cores <= (os.cpu_count() or 1)
    assert machine.memory > 1 << 28
    assert from_json(Machine, json.loads(json.dumps(to_json(machine)))) == machine == this_machine()
