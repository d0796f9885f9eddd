"""What a hung worker was doing, read from the stacks that were taken before it was killed."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

_FRAME = re.compile(r'^  File "(?P<file>[^"]*)", line (?P<line>\d+) in (?P<function>.*)$', re.MULTILINE)

#: By the words of the innermost line; the first that fits counts. Freeing an object has no words of its own.
_PHASES = (
    ("open", re.compile(r"\bopen\s*\(|VideoCapture\s*\(|VideoDecoder\s*\(|VideoReader\s*\(")),
    ("seek", re.compile(r"\bseek\w*\s*\(")),
    ("convert", re.compile(r"\b(reformat|to_ndarray|to_rgb|to_image|cvtColor)\s*\(")),
    ("close", re.compile(r"\bclose\s*\(|\b__exit__\b|^\s*with\b|^\s*del\b|^\s*break\b|^\s*return\b")),
    ("decode", re.compile(r"\b(decode|demux|next|read|retrieve|get_\w+)\s*\(|^\s*for\b|\byield\b")),
)

#: How the threads of FFmpeg's frame threading and of libdav1d are named.
_POOLS = ("av:", "dav1d")

#: The file that calls a function under test: where it is innermost, the function has returned.
_CALLER = ("decoders", "shapes.py")

#: Readers of native stacks, tried in this order where they are installed: each stops the process only for a moment.
_NATIVE = (("pystack", "remote", "--native"), ("py-spy", "dump", "--native", "--nonblocking", "--pid"))
NATIVE_S = 2.0
HAS_NATIVE = any(shutil.which(program) for program, *_ in _NATIVE)
_MAX_CHARACTERS = 1 << 16
_MAX_SOURCE = 1 << 20


def decoding_frames(stacks: str) -> list[tuple[str, int, str]]:
    """``(file, line, function)`` of the thread that served the request, innermost first."""
    for thread in re.split(r"^(?=(?:Current thread|Thread) 0x)", stacks, flags=re.MULTILINE):
        frames = [(m["file"], int(m["line"]), m["function"]) for m in _FRAME.finditer(thread)]
        if any(Path(file).name == "boot.py" for file, _, _ in frames):
            return frames
    return []


def phase_of(stacks: str, thread_names: Iterable[str] = ()) -> tuple[str, str]:
    """The phase (``open``, ``seek``, ``decode``, ``convert``, ``close``, or empty) and the line it stands in.

    faulthandler names the line of every frame; what that line does is read from its words, which is a guess where
    a line does several things. Of one that opens and closes (``with av.open(…)``), ``thread_names`` decide: where a
    decoder's threads are among them, the file was open already.
    """
    for file, number, function in decoding_frames(stacks)[:1]:
        if Path(file).parts[-2:] == _CALLER:
            return "close", "its objects were being freed, after it had returned"
        text = _source_line(Path(file), number)
        where = f"{Path(file).name}:{number} in {function}" + (f": {text}" if text else "")
        opened = any(name.startswith(_POOLS) for name in thread_names)
        phases = [phase for phase, words in _PHASES if words.search(text) and not (opened and phase == "open")]
        return next(iter(phases), ""), where
    return "", ""


def native_stacks(pid: int) -> str:
    """Native and Python stacks of all threads by pystack or py-spy (extra ``stacks``); empty where there is none."""
    for program, *arguments in _NATIVE:
        if path := shutil.which(program):
            try:
                done = subprocess.run(
                    [path, *arguments, str(pid)], capture_output=True, text=True, timeout=NATIVE_S, check=False
                )
            except (OSError, subprocess.TimeoutExpired):
                continue
            if done.returncode == 0:
                return done.stdout[:_MAX_CHARACTERS]
    return ""


def _source_line(file: Path, number: int) -> str:
    try:
        if file.stat().st_size > _MAX_SOURCE:
            return ""
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return lines[number - 1].strip() if number <= len(lines) else ""
