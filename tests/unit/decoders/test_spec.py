from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_videodecode.decoders.spec import FORM, DecoderSpec, parse
from pytest_videodecode.errors import DecoderSpecError


@pytest.mark.parametrize(
    ("text", "target", "options", "python"),
    [
        ("production", "production", {}, None),
        ("production,threads=160", "production", {"threads": "160"}, None),
        ("lerobot,backend=pyav@../lr/bin/python", "lerobot", {"backend": "pyav"}, "../lr/bin/python"),
        ("mylab.video_io:decode_video_frames", "mylab.video_io:decode_video_frames", {}, None),
        ("mylab:Reader.decode@/a,b/python", "mylab:Reader.decode", {}, "/a,b/python"),
        (" pyav , thread_type = FRAME ", "pyav", {"thread_type": "FRAME"}, None),
        ("m:f,expr=a=b", "m:f", {"expr": "a=b"}, None),
        ("m:f,empty=", "m:f", {"empty": ""}, None),
        ("m:f,mail=a@", "m:f", {"mail": "a@"}, None),
    ],
)
def test_parts_of_a_spec_are_read(text: str, target: str, options: dict[str, str], python: str | None) -> None:
    assert parse(text) == DecoderSpec(target, options, python)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "the name is empty"),
        ("   ", "the name is empty"),
        (",threads=2", "the name is empty"),
        ("@/usr/bin/python3", "the name is empty"),
        ("pyav,threads", "'threads' is no option=value"),
        ("pyav,", "'' is no option=value"),
        ("pyav,=3", "'=3' is no option=value"),
        ("pyav,threads=1,threads=2", "'threads' is given twice"),
        ("pyav@", "'pyav@' is no name"),
        ("a b", "'a b' is no name"),
        (":decode", "'' is no importable module name"),
        ("./video.py:decode", "'./video.py' is no importable module name"),
        ("mylab:", "'' is no function name"),
        ("mylab:f()", "'f()' is no function name"),
        ("mylab:a:b", "'a:b' is no function name"),
    ],
)
def test_malformed_spec_is_refused_with_the_accepted_form(text: str, fault: str) -> None:
    with pytest.raises(DecoderSpecError) as caught:
        parse(text)
    message = str(caught.value)
    assert fault in message
    assert message.endswith(FORM)
    assert "\n" not in message


NAMES = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)
VALUES = st.text(st.characters(codec="ascii", exclude_characters=",@", exclude_categories=["Cc", "Zs"]), max_size=8)


@given(
    target=NAMES | st.builds("{}:{}".format, NAMES, NAMES),
    options=st.dictionaries(NAMES, VALUES, max_size=3),
    python=st.none() | st.from_regex(r"[a-z./][a-z0-9./,=:-]{0,20}", fullmatch=True),
)
def test_text_of_a_spec_reads_back_as_the_same_spec(target: str, options: dict[str, str], python: str | None) -> None:
    spec = DecoderSpec(target, options, python)
    assert parse(str(spec)) == spec


def test_specs_can_be_keys() -> None:
    assert {parse("pyav,threads=2"): 1}[parse("pyav,threads=2")] == 1


@pytest.mark.parametrize(
    ("text", "variable", "expected"),
    [
        ("mylab.video:read", "THREADS", "mylab.video:read,threads_env=THREADS"),
        ("mylab.video:read,threads_env=OWN", "THREADS", "mylab.video:read,threads_env=OWN"),
        ("mylab.video:read@/py", "", "mylab.video:read@/py"),
        ("production,threads=2", "THREADS", "production,threads=2"),
    ],
)
def test_variable_of_the_thread_count_goes_to_functions_of_the_user(text: str, variable: str, expected: str) -> None:
    assert str(parse(text).with_threads_env(variable)) == expected
