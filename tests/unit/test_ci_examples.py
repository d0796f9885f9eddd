"""The workflows of docs/ci: they parse, and every command in them is one that there is."""

from __future__ import annotations

import importlib
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_videodecode import cli, plugin
from pytest_videodecode.options import OPTIONS

yaml = importlib.import_module("yaml")  # comes with huggingface_hub; its types do not

FOLDER = Path(__file__).parents[2] / "docs" / "ci"
FILES = ("github-actions.yml", "gitlab-ci.yml")
FLAGS = {plugin.SUITE_FLAG, plugin.THROUGHPUT_FLAG, plugin.UPDATE_FLAG, *(option.flag for option in OPTIONS)}


def commands(data: Any) -> Iterator[list[str]]:
    """The words of every line of every script, wherever it stands."""
    if isinstance(data, dict):
        for value in data.values():
            yield from commands(value)
    elif isinstance(data, list):
        for value in data:
            yield from commands(value)
    elif isinstance(data, str) and ".venv/bin/" in data:
        for line in data.replace("\\\n", " ").splitlines():
            yield shlex.split(line)


def scripts(name: str) -> list[list[str]]:
    return list(commands(yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))))


@pytest.mark.parametrize("name", FILES)
def test_commands_of_the_shell_have_flags_that_there_are(name: str) -> None:
    found = [words[1:] for words in scripts(name) if words[0].endswith("/videodecode")]
    assert {words[0] for words in found} == {"fuzz", "throughput"}
    for words in found:
        assert cli._parser().parse_args(words).decoder


@pytest.mark.parametrize("name", FILES)
def test_options_of_pytest_are_those_of_the_plugin(name: str) -> None:
    (run,) = [words for words in scripts(name) if "pytest" in words]
    used = [word for word in run if word.startswith("--videodecode-")]
    assert used
    assert set(used) <= FLAGS


@pytest.mark.parametrize("name", FILES)
def test_throughput_is_held_against_the_base_branch_and_a_baseline(name: str) -> None:
    gate, update = [words for words in scripts(name) if "throughput" in words]
    assert gate[gate.index("--against") + 1] == "$DECODER@../base/.venv/bin/python"
    assert "--baseline" in gate
    assert "--update-baseline" in update
