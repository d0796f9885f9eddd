from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_videodecode.decoders.registry import REGISTERED, load
from pytest_videodecode.decoders.spec import parse
from pytest_videodecode.errors import VideodecodeError
from pytest_videodecode.model import DecodeRequest

USER_MODULE = """
import numpy as np

def decode_frames(path, indices, threads=1):
    return np.full((len(indices), 2, 2, 3), threads, np.uint8)

def unthreaded(path, indices):
    return np.zeros((len(indices), 2, 2, 3), np.uint8)

class Reader:
    @staticmethod
    def read(path, indices):
        return unthreaded(path, indices)

def wrong(clip):
    return None

limit = 3
"""


@pytest.fixture
def user_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of user modules that can be imported, and are forgotten afterwards."""
    (tmp_path / "user_reader.py").write_text(USER_MODULE)
    (tmp_path / "user_broken.py").write_text("raise RuntimeError('no licence\\nfor this host')")
    (tmp_path / "user_quits.py").write_text("import sys; sys.exit('run me as a script')")
    (tmp_path / "user_needs.py").write_text("import a_package_that_is_absent")
    (tmp_path / "user_package").mkdir()
    (tmp_path / "user_package" / "__init__.py").write_text("from user_reader import decode_frames")
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("user_")]:
        del sys.modules[name]


def fault(spec: str) -> str:
    with pytest.raises(VideodecodeError) as caught:
        load(parse(spec))
    assert "\n" not in str(caught.value)
    return f"{type(caught.value).__name__}: {caught.value}"


@pytest.mark.usefixtures("user_module")
@pytest.mark.parametrize(
    "spec", ["user_reader:decode_frames", "user_reader:Reader.read", "user_package:decode_frames", "pyav", "ffmpeg"]
)
def test_a_decoder_goes_by_the_text_of_its_spec(spec: str) -> None:
    assert load(parse(spec)).info.name == spec
    assert load(parse(f"{spec}@/usr/bin/python3")).info.name == f"{spec}@/usr/bin/python3"


@pytest.mark.usefixtures("user_module")
@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("pyva", "decoder 'pyva' is unknown (did you mean pyav?); registered are production, pyav, ffmpeg"),
        (
            "zzz",
            "decoder 'zzz' is unknown; registered are production, pyav, ffmpeg, lerobot, torchcodec, opencv, decord",
        ),
        ("mylab.reader.decode", "decoder 'mylab.reader.decode' is unknown (did you mean mylab.reader:decode?)"),
        ("absent_lab:decode", "decoder absent_lab:decode: no module named 'absent_lab' in the current directory"),
        ("absent_lab.io:decode", "decoder absent_lab.io:decode: no module named 'absent_lab' in"),
        ("user_package.io:decode", "decoder user_package.io:decode: no module named 'user_package.io' in"),
        ("user_reader.io:decode", "decoder user_reader.io:decode: no module named 'user_reader.io' in"),
        ("user_reader:decode_frame", "module user_reader has no 'decode_frame'; did you mean decode_frames?"),
        ("user_reader:xyz", "has no 'xyz'; its functions are Reader, decode_frames, unthreaded, wrong"),
        ("user_reader:Reader.raed", "module user_reader's Reader has no 'raed'; did you mean read?"),
        ("user_reader:limit.x", "module user_reader's limit has no 'x'"),
        ("user_reader:wrong", "user_reader:wrong has a shape that is not recognised; its parameters are (clip)"),
        ("user_reader:limit", "user_reader:limit has a shape that is not recognised; it is an object of type int"),
        ("user_broken:decode", "importing user_broken raised RuntimeError: no licence for this host"),
        ("user_quits:decode", "importing user_quits raised SystemExit: run me as a script"),
        ("user_needs:decode", "importing user_needs raised ModuleNotFoundError: No module named 'a_package_that_is_a"),
    ],
)
def test_each_thing_that_can_be_wrong_has_its_own_message(spec: str, message: str) -> None:
    assert fault(spec).startswith("DecoderSpecError: ")
    assert message in fault(spec)


@pytest.mark.parametrize("name", ["production", "pyav", "lerobot", "torchcodec", "opencv", "decord"])
def test_a_registered_decoder_without_its_package_is_unsupported_and_says_what_to_install(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("av", "lerobot", "torchcodec", "torchcodec.decoders", "cv2", "decord"):
        monkeypatch.setitem(sys.modules, module, None)
    for module in [module for module in sys.modules if module.startswith("pytest_videodecode.production.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.delitem(sys.modules, f"pytest_videodecode.decoders.{name}", raising=False)
    message = fault(name)
    assert message.startswith(f"Unsupported: decoder {name}: ")
    assert message.endswith(f"run: {sys.executable} -m pip install {REGISTERED[name]}")


def values(spec: str, **asked: Any) -> set[int]:
    frames = load(parse(spec)).decode(DecodeRequest(path="x", indices=(0,), **asked))
    assert isinstance(frames, np.ndarray)
    return set(frames.ravel().tolist())


@pytest.mark.usefixtures("user_module")
def test_threads_of_the_spec_hold_where_a_request_asks_for_none() -> None:
    assert values("user_reader:decode_frames") == {1}
    assert values("user_reader:decode_frames,threads=160") == {160}
    assert values("user_reader:decode_frames,threads=160", threads=4) == {4}


@pytest.mark.usefixtures("user_module")
def test_a_thread_count_for_who_takes_none_is_refused_with_the_way_out() -> None:
    message = fault("user_reader:unthreaded,threads=2")
    assert message.startswith("DecoderSpecError: user_reader:unthreaded has no thread count to be set by threads=")
    assert "threads_env=NAME" in message
    assert load(parse("user_reader:unthreaded,threads=2,threads_env=X")).defaults == {"threads": 2}


@pytest.mark.usefixtures("user_module")
def test_a_cap_is_promised_by_the_spec_and_not_behind_a_count_of_the_spec() -> None:
    assert load(parse("user_reader:unthreaded")).info.thread_cap is None
    assert load(parse("user_reader:unthreaded,thread_cap=4")).info.thread_cap == 4
    assert load(parse("production")).info.thread_cap == 2
    assert load(parse("production,threads=160")).info.thread_cap is None
    assert load(parse("production,threads=160,thread_cap=2")).info.thread_cap == 2


def test_only_what_a_spec_names_is_imported() -> None:
    program = (
        "import sys; from pytest_videodecode.decoders.registry import load; "
        "from pytest_videodecode.decoders.spec import parse; "
        "heavy = lambda: {'av', 'torch', 'cv2', 'decord', 'imageio_ffmpeg', 'hypothesis'} & set(sys.modules); "
        "assert not heavy(), heavy(); load(parse('pyav')); assert heavy() == {'av'}, heavy()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
