from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import pytest

from pytest_videodecode.production.sources import cache as source_cache
from pytest_videodecode.production.sources.cache import SourceCache
from pytest_videodecode.production.sources.errors import SourceError

KEYS = [f"{number:032x}" for number in range(9)]


def writes(content: bytes, log: list[bytes] | None = None) -> Callable[[IO[bytes]], None]:
    def fetch(file: IO[bytes]) -> None:
        if log is not None:
            log.append(content)
        file.write(content)

    return fetch


def fails(file: IO[bytes]) -> None:
    file.write(b"half")
    raise ConnectionError("lost")


def videos(cache: SourceCache) -> set[str]:
    return {path.stem for path in cache.folder.iterdir() if path.suffix == ".mp4"}


def test_file_is_fetched_once(tmp_path: Path) -> None:
    log: list[bytes] = []
    for cache in (SourceCache(tmp_path), SourceCache(tmp_path)):
        for _ in range(2):
            path = cache.path(KEYS[0], ".mp4", 3, writes(b"abc", log))
            assert Path(path).read_bytes() == b"abc"
    assert log == [b"abc"]


def test_file_of_another_size_is_fetched_anew(tmp_path: Path) -> None:
    cache = SourceCache(tmp_path)
    Path(cache.path(KEYS[0], ".mp4", 3, writes(b"abc"))).write_bytes(b"torn by someone")
    assert Path(cache.path(KEYS[0], ".mp4", 3, writes(b"abc"))).read_bytes() == b"abc"


def test_fetch_that_fails_leaves_nothing(tmp_path: Path) -> None:
    cache = SourceCache(tmp_path)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(SourceError, match=r"cannot keep 8 bytes"):
        cache.path(KEYS[0], ".mp4", 8, fails)
    assert {path.name.split("-")[0] for path in tmp_path.iterdir()} == {"lock"}
    assert len(os.listdir("/proc/self/fd")) == before


def test_least_recently_used_file_makes_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_cache, "PINNED", 1)
    cache = SourceCache(tmp_path, max_bytes=30)
    for key in KEYS[:3]:
        cache.path(key, ".mp4", 10, writes(b"0123456789"))
    cache.path(KEYS[0], ".mp4", 10, writes(b"0123456789"))
    cache.path(KEYS[3], ".mp4", 10, writes(b"0123456789"))
    assert videos(cache) == {KEYS[0], KEYS[2], KEYS[3]}


def test_use_leaves_the_modification_time(tmp_path: Path) -> None:
    cache = SourceCache(tmp_path)
    path = Path(cache.path(KEYS[0], ".mp4", 1, writes(b"a")))
    os.utime(path, ns=(5, 5))
    cache.path(KEYS[0], ".mp4", 1, writes(b"a"))
    assert path.stat().st_mtime_ns == 5
    assert path.stat().st_atime_ns > 5


def test_file_that_another_process_uses_stays(tmp_path: Path) -> None:
    cache, other = SourceCache(tmp_path, max_bytes=10), SourceCache(tmp_path, max_bytes=10)
    held = cache.path(KEYS[0], ".mp4", 10, writes(b"0123456789"))
    other.path(KEYS[1], ".mp4", 10, writes(b"0123456789"))
    assert Path(held).exists()
    cache.close()
    other.path(KEYS[2], ".mp4", 10, writes(b"0123456789"))
    assert videos(cache) == {KEYS[1], KEYS[2]}


def test_file_handed_out_last_stays_however_small_the_cache(tmp_path: Path) -> None:
    cache = SourceCache(tmp_path, max_bytes=1)
    for key in KEYS:
        assert Path(cache.path(key, ".mp4", 2, writes(b"ab"))).read_bytes() == b"ab"


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    cache = SourceCache(tmp_path)
    (tmp_path / f"{KEYS[1]}.mp4.part").write_bytes(b"half")
    cache.path(KEYS[0], ".mp4", 1, writes(b"a"))
    assert not list(tmp_path.glob("*.part"))


def test_files_of_others_in_the_folder_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_cache, "PINNED", 1)
    (tmp_path / "holiday.mp4").write_bytes(b"mine" * 100)
    (tmp_path / "notes.part").write_bytes(b"mine")
    (tmp_path / "folder").mkdir()
    cache = SourceCache(tmp_path, max_bytes=1)
    for key in KEYS:
        cache.path(key, ".mp4", 1, writes(b"a"))
    assert {"holiday.mp4", "notes.part", "folder"} <= {path.name for path in tmp_path.iterdir()}
    assert len(videos(cache) - {"holiday"}) == 2  # the one held, and the one that came last


def test_so_many_files_are_held_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_cache, "PINNED", 2)
    cache = SourceCache(tmp_path)
    before = len(os.listdir("/proc/self/fd"))
    for key in KEYS:
        cache.path(key, ".mp4", 1, writes(b"a"))
    assert len(os.listdir("/proc/self/fd")) == before + 2
    cache.close()
    assert len(os.listdir("/proc/self/fd")) == before


def _several(cache: SourceCache, log: Path) -> None:
    for key in KEYS[:4]:

        def fetch(file: IO[bytes], key: str = key) -> None:
            with log.open("a") as said:
                said.write(key + "\n")
            file.write(key.encode())

        assert Path(cache.path(key, ".mp4", 32, fetch)).read_text() == key


@pytest.mark.parametrize("context", [multiprocessing.get_context("fork"), multiprocessing.get_context("spawn")])
@pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")
def test_processes_share_the_files_and_fetch_each_once(tmp_path: Path, context: Any) -> None:
    cache = SourceCache(tmp_path / "cache")
    workers = [context.Process(target=_several, args=(cache, tmp_path / "log")) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert sorted((tmp_path / "log").read_text().split()) == KEYS[:4]


def test_temporary_folder_goes_with_the_cache_that_made_it() -> None:
    cache = SourceCache()
    copy = pickle.loads(pickle.dumps(cache))
    folder = cache.folder
    cache.path(KEYS[0], ".mp4", 1, writes(b"a"))
    assert copy.folder == folder
    del copy
    gc.collect()
    assert folder.is_dir()
    cache.close()
    del cache
    gc.collect()
    assert not folder.exists()


def test_temporary_folder_goes_at_the_end_of_the_process_and_not_of_its_children(tmp_path: Path) -> None:
    script = (
        "import os\n"
        "from pytest_videodecode.production.sources.cache import SourceCache\n"
        "cache = SourceCache()\n"
        "child = os.fork()\n"
        "if not child: raise SystemExit\n"
        "os.waitpid(child, 0)\n"
        "print(cache.folder, cache.folder.is_dir())\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.split()[1] == "True"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("folder", ["file", "file/below"])
def test_folder_that_cannot_be_is_named(tmp_path: Path, folder: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SourceError, match="cannot be used"):
        SourceCache(tmp_path / folder)
    with pytest.raises(SourceError, match="0 bytes holds nothing"):
        SourceCache(tmp_path, max_bytes=0)
