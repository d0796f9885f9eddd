"""A small server on loopback that speaks the part of the Hub's API that reading a data set needs, with faults.

Data sets (``/api/datasets/…``, ``/datasets/…/resolve/…``) and buckets (``/api/buckets/…``, ``/buckets/…/resolve/…``)
as huggingface_hub 1 and 2 ask for them. A fault is planted for the next requests of files, or of the API.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"
DATE = "2026-01-01T00:00:00.000Z"


@dataclass
class Fault:
    """What happens to one request: an error ``status`` with ``headers``, or a body cut after ``cut_after`` bytes.

    ``short`` ends the body early and says that this is all; without it the connection is reset.
    """

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut_after: int | None = None
    short: bool = False
    before_answer: bool = False  # the connection is closed with no answer at all


@dataclass
class Hub:
    """One data set and one bucket, both of the files below ``root``. Faults are taken from the front."""

    root: Path
    name: str = "someone/synthetic"
    faults: list[Fault] = field(default_factory=list)
    api_faults: list[Fault] = field(default_factory=list)
    latency_s: float = 0.0
    bytes_per_s: float = 0.0
    requests: Counter[str] = field(default_factory=Counter)
    ranges: list[tuple[str, int, int]] = field(default_factory=list)
    sent: int = 0
    endpoint: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def dataset(self) -> str:
        return f"hf://datasets/{self.name}"

    @property
    def bucket(self) -> str:
        return f"hf://buckets/{self.name}"

    def next_fault(self, planted: list[Fault]) -> Fault:
        with self.lock:
            return planted.pop(0) if planted else Fault()


@contextlib.contextmanager
def serve(root: Path) -> Iterator[Hub]:
    """A hub over the files below ``root``, at its ``endpoint`` until the end of the block."""
    hub = Hub(root)
    open_connections: set[socket.socket] = set()
    handler = type("Handler", (_Handler,), {"hub": hub, "open_connections": open_connections})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    hub.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        for connection in list(open_connections):  # clients keep theirs, and would find the hub still answering
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    open_connections: set[socket.socket]
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        self.open_connections.add(self.connection)

    def finish(self) -> None:
        self.open_connections.discard(self.connection)
        with contextlib.suppress(OSError):  # a reset has ended it already
            super().finish()

    def do_GET(self) -> None:
        self._answer(body=True)

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the tests look at ``requests``."""

    def _answer(self, *, body: bool) -> None:
        hub = self.hub
        parts = urlsplit(self.path)
        path = unquote(parts.path)
        time.sleep(hub.latency_s)
        is_api = path.startswith("/api/")
        with hub.lock:
            hub.requests["api" if is_api else "file"] += 1
        fault = hub.next_fault(hub.api_faults if is_api else hub.faults)
        if fault.before_answer:
            self._reset()
        elif fault.status != 200:
            self._send(fault.status, b"{}", fault.headers)
        elif is_api:
            self._api(path.removeprefix("/api/"), parse_qs(parts.query))
        else:
            self._file(path, fault, body=body)

    def _api(self, path: str, query: dict[str, list[str]]) -> None:
        hub = self.hub
        kind, _, rest = path.partition("/")
        if kind not in ("datasets", "buckets") or not f"{rest}/".startswith(f"{hub.name}/"):
            self._not_found("BucketNotFound" if kind == "buckets" else "RepoNotFound")
            return
        what, _, below = rest.removeprefix(hub.name).strip("/").partition("/")
        if what == "tree":
            if kind == "datasets":
                below = below.partition("/")[2]
            self._tree(kind, below, recursive=query.get("recursive", ["false"])[0].lower() == "true")
        elif kind == "datasets" and (what == "" or (what == "revision" and below in ("main", COMMIT))):
            self._json(
                {"id": hub.name, "sha": COMMIT, "private": False, "disabled": False, "tags": [], "siblings": []}
            )
        elif kind == "buckets" and what == "":
            self._json({"id": hub.name, "private": False, "createdAt": DATE, "size": 1, "totalFiles": 1})
        else:
            self._not_found("RevisionNotFound")

    def _tree(self, kind: str, below: str, *, recursive: bool) -> None:
        folder = self.hub.root / below
        found = sorted(folder.rglob("*") if recursive else folder.iterdir()) if folder.is_dir() else []
        if not found:
            self._not_found("EntryNotFound")
            return
        self._json(
            [
                _entry(kind, path, self.hub.root)
                for path in found
                if kind == "datasets" or path.is_file() or not recursive
            ]
        )

    def _file(self, path: str, fault: Fault, *, body: bool) -> None:
        hub = self.hub
        start = f"/buckets/{hub.name}/resolve/" if path.startswith("/buckets/") else f"/datasets/{hub.name}/resolve/"
        below = path.removeprefix(start)
        if start.startswith("/datasets/"):
            below = below.partition("/")[2]
        target = hub.root / below
        if not path.startswith(start) or not target.is_file():
            self._not_found("EntryNotFound")
            return
        content = target.read_bytes()
        first, last = self._range(len(content))
        with hub.lock:
            hub.ranges.append((below, first, last))
        headers = {
            "ETag": f'"{hashlib.sha256(content).hexdigest()}"',
            "X-Repo-Commit": COMMIT,
            "Accept-Ranges": "bytes",
        }
        status = 200
        if "Range" in self.headers:
            status, headers["Content-Range"] = 206, f"bytes {first}-{last - 1}/{len(content)}"
        self._send(status, content[first:last], headers, fault, body=body)

    def _range(self, size: int) -> tuple[int, int]:
        said = self.headers.get("Range", "").removeprefix("bytes=")
        first, _, last = said.partition("-")
        return int(first or 0), min(int(last) + 1, size) if last else size

    def _send(
        self, status: int, content: bytes, headers: dict[str, str], fault: Fault | None = None, *, body: bool = True
    ) -> None:
        cut = fault.cut_after if fault else None
        shown = len(content) if cut is None or not fault or not fault.short else cut
        self.send_response(status)
        for name, value in {"Content-Length": str(shown), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if not body:
            return
        sent = content if cut is None else content[:cut]
        step = 64 * 1024
        for at in range(0, len(sent), step):
            self.wfile.write(sent[at : at + step])
            if self.hub.bytes_per_s:
                time.sleep(min(step, len(sent) - at) / self.hub.bytes_per_s)
        with self.hub.lock:
            self.hub.sent += len(sent)
        if cut is not None and fault and not fault.short:
            self._reset()

    def _reset(self) -> None:
        """End the connection with a reset, as a server that dies does."""
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True

    def _json(self, content: Any) -> None:
        self._send(200, json.dumps(content).encode(), {"Content-Type": "application/json"})

    def _not_found(self, code: str) -> None:
        self._send(404, b'{"error": "not found"}', {"X-Error-Code": code, "X-Error-Message": "not found"})


def _entry(kind: str, path: Path, root: Path) -> dict[str, Any]:
    """One line of a listing."""
    name = path.relative_to(root).as_posix()
    digest = hashlib.sha256(name.encode()).hexdigest()
    if path.is_dir():
        return {"type": "directory", "path": name, "oid": digest[:40], "uploadedAt": DATE}
    found: dict[str, Any] = {"type": "file", "path": name, "size": path.stat().st_size, "oid": digest[:40]}
    return {**found, "xetHash": digest, "uploadedAt": DATE, "mtime": DATE} if kind == "buckets" else found
