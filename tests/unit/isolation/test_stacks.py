from __future__ import annotations

from pathlib import Path

import pytest

from pytest_videodecode.isolation.stacks import decoding_frames, phase_of

OTHER_THREAD = """Thread 0x00007f01 (most recent call first):
  File "/elsewhere/threading.py", line 5 in wait

"""


def stacks(file: Path, line: int) -> str:
    return (
        f"{OTHER_THREAD}Current thread 0x00007f02 (most recent call first):\n"
        f'  File "{file}", line {line} in read_frames\n'
        '  File "/site/decoders/shapes.py", line 70 in decode\n'
        '  File "/site/isolation/boot.py", line 44 in <module>\n'
    )


@pytest.mark.parametrize(
    ("line", "phase"),
    [
        ("container = av.open(path)", "open"),
        ("container.seek(pts, stream=stream)", "seek"),
        ("for frame in container.decode(stream):", "decode"),
        ("picture = frame.to_ndarray(format='rgb24')", "convert"),
        ("container.close()", "close"),
        ("with av.open(path) as container:", "open"),
        ("break", "close"),
        ("total += 1", ""),
    ],
)
def test_phase_is_read_from_the_innermost_line(tmp_path: Path, line: str, phase: str) -> None:
    source = tmp_path / "reader.py"
    source.write_text(f"import av\n    {line}\n", encoding="utf-8")
    assert phase_of(stacks(source, 2)) == (phase, f"reader.py:2 in read_frames: {line}")


def test_with_line_closes_where_a_decoder_has_threads(tmp_path: Path) -> None:
    source = tmp_path / "reader.py"
    source.write_text("with av.open(path) as container:\n", encoding="utf-8")
    assert phase_of(stacks(source, 1), ["python", "av:h264:df"])[0] == "close"
    assert phase_of(stacks(source, 1), ["python"])[0] == "open"


def test_function_that_has_returned_was_freeing_its_objects() -> None:
    text = stacks(Path("x.py"), 1).replace('  File "x.py", line 1 in read_frames\n', "")
    assert phase_of(text) == ("close", "its objects were being freed, after it had returned")


def test_source_that_cannot_be_read_still_names_the_line() -> None:
    assert phase_of(stacks(Path("/no/such/reader.py"), 7)) == ("", "reader.py:7 in read_frames")


def test_only_the_thread_that_decodes_counts() -> None:
    assert decoding_frames(OTHER_THREAD) == []
    assert phase_of(OTHER_THREAD) == ("", "")
    assert phase_of("") == ("", "")
