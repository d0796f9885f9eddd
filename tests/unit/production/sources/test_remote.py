from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest
from hub_server import COMMIT, Fault, Hub, serve

from pytest_videodecode.production.layout.errors import DatasetFileMissingError
from pytest_videodecode.production.sources.cache import SourceCache
from pytest_videodecode.production.sources.errors import SourceError, SourceUnreachableError
from pytest_videodecode.production.sources.local import LocalSource
from pytest_videodecode.production.sources.remote import RemoteSource, open_source
from pytest_videodecode.production.sources.retry import Retry

QUICK = Retry(attempts=4, first_wait_s=0.001)
VIDEO = "videos/observation.images.front/chunk-000/file-000.mp4"
CONTENT = bytes(range(256)) * 300
FILES = {"meta/info.json": b"{}", "data/chunk-000/file-000.parquet": b"PAR1", VIDEO: CONTENT}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        path = tmp_path / "data set" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return tmp_path / "data set"


@pytest.fixture
def hub(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setattr("pytest_videodecode.production.sources.remote.PART_BYTES", 10_000)
    with serve(folder) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        yield hub


@pytest.fixture(params=["dataset", "bucket"])
def root(hub: Hub, request: pytest.FixtureRequest) -> str:
    return str(getattr(hub, request.param))


def remote(root: str, tmp_path: Path) -> RemoteSource:
    source = open_source(root, retry=QUICK, cache=SourceCache(tmp_path / "cache"))
    assert isinstance(source, RemoteSource)
    return source


def test_every_source_gives_the_same_files(root: str, folder: Path, tmp_path: Path) -> None:
    for source in (remote(root, tmp_path), remote(f"file://{folder}", tmp_path), open_source(folder)):
        assert source.files("") == sorted(FILES)
        assert source.files("meta") == ["meta/info.json"]
        assert source.files("absent") == []
        for name, content in FILES.items():
            assert source.exists(name)
            assert source.size(name) == len(content)
            assert source.read_bytes(name) == content
        assert source.read_bytes(VIDEO, 9_990, 20_011) == CONTENT[9_990:20_011]
        assert source.read_bytes(VIDEO, len(CONTENT) - 3) == CONTENT[-3:]
        assert source.read_bytes(VIDEO, 5, 10**9) == CONTENT[5:]
        assert source.read_bytes(VIDEO, len(CONTENT)) == b""
        assert not source.exists("meta")
        assert not source.exists("meta/absent.json")
        assert not source.exists("absent/absent.json")
        with pytest.raises(DatasetFileMissingError, match="absent"):
            source.read_bytes("absent.json")
        shown = source.video(VIDEO)
        assert isinstance(shown, str)
        assert Path(shown).read_bytes() == CONTENT


FAULTS = {
    "no answer": Fault(before_answer=True),
    "dropped in the body": Fault(cut_after=7_000),
    "short answer": Fault(cut_after=7_000, short=True),
    "throttled": Fault(429, {"Retry-After": "0"}),
    "unavailable": Fault(503),
    "bad gateway": Fault(502),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_fault_is_asked_again_and_no_byte_is_lost_or_doubled(
    hub: Hub, root: str, fault: Fault, tmp_path: Path
) -> None:
    source = remote(root, tmp_path)
    source.size(VIDEO)
    hub.faults[:] = [Fault(), fault, Fault(), fault, fault]
    shown = source.video(VIDEO)
    assert isinstance(shown, str)
    assert Path(shown).read_bytes() == CONTENT
    assert source.statistics.retries == 3
    assert sum(source.statistics.faults.values()) == 3
    assert source.statistics.bytes == len(CONTENT)
    assert {name for name, _, _ in hub.ranges} == {VIDEO}
    assert sorted({(first, last) for _, first, last in hub.ranges}) == [
        (at, min(at + 10_000, len(CONTENT))) for at in range(0, len(CONTENT), 10_000)
    ]


@pytest.mark.parametrize("status", [401, 403, 404, 410, 416])
def test_permanent_fault_is_asked_once(hub: Hub, root: str, status: int, tmp_path: Path) -> None:
    source = remote(root, tmp_path)
    source.size(VIDEO)
    before = hub.requests["file"]
    hub.faults[:] = [Fault(status)]
    kind = DatasetFileMissingError if status in (404, 410) else SourceError
    with pytest.raises(kind, match=rf"^hf://.*front/chunk-000/file-000\.mp4: .*\(HTTP {status}\)"):
        source.video(VIDEO)
    assert hub.requests["file"] == before + 1
    assert source.statistics.retries == 0
    assert not list((tmp_path / "cache").glob("*.mp4*"))


def test_source_that_goes_on_failing_is_given_up(hub: Hub, root: str, tmp_path: Path) -> None:
    source = remote(root, tmp_path)
    source.size(VIDEO)
    hub.faults[:] = [Fault(503)] * 9
    with pytest.raises(SourceUnreachableError, match=r"try 4 of 4 .*HTTP 503") as raised:
        source.read_bytes(VIDEO)
    assert "\n" not in str(raised.value)
    assert len(hub.faults) == 5


def test_hub_that_does_not_answer_is_one_clear_line(hub: Hub, root: str, tmp_path: Path) -> None:
    hub.api_faults[:] = [Fault(before_answer=True)] * 9
    with pytest.raises(SourceUnreachableError, match=r"^hf://.*: unreachable, given up after try 4 of 4"):
        remote(root, tmp_path)


def test_hub_that_is_not_there_is_one_clear_line(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(folder) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
    with pytest.raises(SourceUnreachableError, match="Connection refused"):
        remote(hub.dataset, tmp_path)


def test_opening_is_asked_again_too(hub: Hub, root: str, tmp_path: Path) -> None:
    hub.api_faults[:] = [Fault(503)]
    assert remote(root, tmp_path).statistics.faults == {"HTTP 503": 1}


def test_data_set_is_pinned_to_the_commit_of_its_revision(hub: Hub, tmp_path: Path) -> None:
    for source in (remote(hub.dataset, tmp_path), remote(f"{hub.dataset}@main", tmp_path)):
        assert source.description == f"{hub.dataset}@{COMMIT}"
    below = remote(f"{hub.dataset}/meta", tmp_path)
    assert (below.description, below.files("")) == (f"{hub.dataset}@{COMMIT}/meta", ["info.json"])
    with pytest.raises(DatasetFileMissingError, match="revision not found"):
        open_source(hub.dataset, revision="absent", retry=QUICK)


def test_worker_asks_nothing_again_that_its_parent_knew(hub: Hub, root: str, tmp_path: Path) -> None:
    source = remote(root, tmp_path)
    source.video(VIDEO)
    copy = pickle.loads(pickle.dumps(source))
    before = hub.requests.total()
    assert copy.video(VIDEO) == source.video(VIDEO)
    assert hub.requests.total() == before
    assert copy.read_bytes(VIDEO, 0, 10) == CONTENT[:10]
    assert hub.requests.total() == before + 1


def test_file_changed_at_its_source_is_fetched_anew(folder: Path, tmp_path: Path) -> None:
    first = remote(f"file://{folder}", tmp_path).video(VIDEO)
    (folder / VIDEO).write_bytes(CONTENT[::-1])
    second = remote(f"file://{folder}", tmp_path).video(VIDEO)
    assert isinstance(first, str)
    assert isinstance(second, str)
    assert Path(first).read_bytes() == CONTENT
    assert Path(second).read_bytes() == CONTENT[::-1]


def test_any_file_system_of_fsspec_is_read(tmp_path: Path) -> None:
    memory = fsspec.filesystem("memory")
    memory.pipe({"/of-sources/meta/info.json": b"{}", f"/of-sources/{VIDEO}": CONTENT})
    try:
        source = remote("memory://of-sources", tmp_path)
        assert source.files("") == ["meta/info.json", VIDEO]
        assert source.read_bytes(VIDEO, 3, 7) == CONTENT[3:7]
        assert Path(str(source.video(VIDEO))).read_bytes() == CONTENT
    finally:
        memory.rm("/of-sources", recursive=True)


@pytest.mark.parametrize("path", ["../secret", "meta/../../secret", "/etc/passwd"])
def test_path_that_leads_out_is_refused(root: str, path: str, tmp_path: Path) -> None:
    with pytest.raises(DatasetFileMissingError, match="leads out of"):
        remote(root, tmp_path).read_bytes(path)


@pytest.mark.parametrize(
    ("root", "said"),
    [
        ("nope://a/b", "nope://a/b: cannot be read (ValueError: Protocol not known: nope); check the address"),
        ("hf://one", "hf://one: cannot be read (ValueError: "),
    ],
)
def test_address_that_nothing_reads_is_refused(root: str, said: str) -> None:
    with pytest.raises(SourceError) as raised:
        open_source(root, retry=QUICK)
    assert str(raised.value).startswith(said)


def test_absent_data_set_and_bucket_are_said_to_be(hub: Hub) -> None:
    for root in ("hf://datasets/nobody/nothing", "hf://buckets/nobody/nothing"):
        with pytest.raises(DatasetFileMissingError, match=f"^{root}: is not there"):
            open_source(root, retry=QUICK)


def test_revision_is_refused_where_there_are_none(hub: Hub, folder: Path) -> None:
    for root in (str(folder), f"file://{folder}", hub.bucket):
        with pytest.raises(SourceError, match="leave out"):
            open_source(root, revision="main")


def test_messages_hold_no_password(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as raised:
        open_source("nope://me:secret@host/a?signature=secret", retry=QUICK)
    assert "secret" not in str(raised.value)
    assert "nope://host/a" in str(raised.value)


def test_folder_and_size_of_the_cache_come_from_the_environment(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIDEODECODE_SOURCE_CACHE", str(tmp_path / "kept"))
    monkeypatch.setenv("VIDEODECODE_SOURCE_CACHE_BYTES", "1000000")
    source = open_source(f"file://{folder}")
    assert Path(str(source.video(VIDEO))).parent == tmp_path / "kept"
    monkeypatch.setenv("VIDEODECODE_SOURCE_CACHE_BYTES", "20 GB")
    with pytest.raises(SourceError, match="'20 GB' is no number of bytes"):
        open_source(f"file://{folder}")


def test_local_folder_is_read_where_it_lies(folder: Path) -> None:
    source = open_source(folder)
    assert isinstance(source, LocalSource)
    assert source.video(VIDEO) == str(folder / VIDEO)
