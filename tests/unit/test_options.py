from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from pytest_videodecode.errors import OptionError
from pytest_videodecode.options import BY_NAME, OPTIONS, Settings


def read(name: str, value: Any) -> Any:
    return getattr(Settings().with_texts({name: value}, lambda name: f"--{name}"), name)


def test_every_setting_is_an_option_and_every_option_a_setting() -> None:
    assert {option.name for option in OPTIONS} == {field.name for field in fields(Settings)}


@pytest.mark.parametrize("name", BY_NAME)
def test_help_is_a_phrase_that_begins_large(name: str) -> None:
    option = BY_NAME[name]
    assert option.help[0].isupper() or option.help.startswith("MiB")
    assert option.help.endswith(".") is (". " in option.help)


def test_names_are_spelt_for_the_shell_and_for_the_ini_file() -> None:
    assert BY_NAME["threads_env"].flag == "--videodecode-threads-env"
    assert BY_NAME["threads_env"].ini == "videodecode_threads_env"


def test_help_tells_the_default_zero_included() -> None:
    assert BY_NAME["threads"].help_text.endswith("(default: 0,1,2,4)")
    assert BY_NAME["seed"].help_text.endswith("(default: 0)")
    assert "default" not in BY_NAME["report"].help_text
    assert BY_NAME["processes"].help_text.count("default") == 1


@pytest.mark.parametrize(
    ("name", "value", "read_as"),
    [
        ("decoder", "pyav", ("pyav",)),
        ("decoder", ["production,threads=2", "pyav", "pyav"], ("production,threads=2", "pyav")),
        ("decoder", "pyav\n  ffmpeg\n\n", ("pyav", "ffmpeg")),
        ("codecs", " av1 , h264,,av1", ("av1", "h264")),
        ("codecs", "", ()),
        ("codecs", ["av1,h264", "vp9"], ("av1", "h264", "vp9")),
        ("checks", ("determinism",), ("determinism",)),
        ("threads", "0", (0,)),
        ("threads", [0, 2, "4,2"], (0, 2, 4)),
        ("threads", 256, (256,)),
        ("timeout", "0.5", 0.5),
        ("timeout", 86400, 86400.0),
        ("memory", "64", 64),
        ("seed", "0", 0),
        ("seed", 4294967295, 4294967295),
        ("require", ["all", "av1,h264"], ("all", "av1", "h264")),
        ("clips", ["."], (".",)),
        ("clips", Path(), (".",)),
        ("clips", "", ()),
        ("expected", "", ""),
        ("expected", __file__, __file__),
        ("report", "out", "out"),
        ("report", "", ""),
        ("threads_env", " MYLAB_THREADS ", "MYLAB_THREADS"),
        ("threads_env", "", ""),
        ("processes", "28", 28),
        ("seconds", 0.2, 0.2),
        (
            "limits",
            "cpu_per_sample=1.15, threads_per_process = 1",
            (("cpu_per_sample", 1.15), ("threads_per_process", 1.0)),
        ),
        ("limits", ["throughput=0.9", "throughput=0.95"], (("throughput", 0.95),)),
        ("limits", {"cpu_per_sample": 2}, (("cpu_per_sample", 2.0),)),
        ("limits", "", ()),
        ("baseline", "not/there/yet.json", "not/there/yet.json"),
    ],
)
def test_text_is_read(name: str, value: Any, read_as: Any) -> None:
    assert read(name, value) == read_as


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("decoder", []),
        ("decoder", "\n \n"),
        ("decoder", 5),
        ("threads", ()),
        ("threads", "-1"),
        ("threads", "²"),
        ("threads", True),
        ("threads", "1.5"),
        ("timeout", "inf"),
        ("timeout", "nan"),
        ("timeout", 0),
        ("timeout", None),
        ("memory", "63"),
        ("memory", "1048577"),
        ("seed", "4294967296"),
        ("seed", "0x10"),
        ("clips", "/no/such/folder"),
        ("clips", "nul\0byte"),
        ("expected", "."),
        ("report", __file__),
        ("threads_env", "A=B"),
        ("processes", "0"),
        ("processes", "4097"),
        ("limits", "1.15"),
        ("limits", "cpu_per_sample=inf"),
        ("limits", "cpu_per_sample=0"),
        ("baseline", "."),
        ("nothing", "1"),
    ],
)
def test_value_that_cannot_be_used_is_an_option_error_of_one_line(name: str, value: Any) -> None:
    with pytest.raises(OptionError) as caught:
        read(name, value)
    assert str(caught.value).startswith(f"--{name}: ")
    assert len(str(caught.value).splitlines()) == 1


def test_settings_not_given_stay() -> None:
    before = Settings(seed=7, codecs=("vp9",))
    after = before.with_texts({"threads": "1"}, str)
    assert (after.seed, after.codecs, after.threads) == (7, ("vp9",), (1,))
    assert before.threads == (0, 1, 2, 4)
