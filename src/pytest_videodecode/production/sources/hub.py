"""Files of the Hub, found through huggingface_hub's file system.

Bytes are fetched from the address that this file system gives, with the library's own session and credentials: its
``open`` asks again by itself for up to half a minute each time, uncounted, and would do so inside each of our tries.
"""

from __future__ import annotations

import os
from typing import Any

from pytest_videodecode.production.sources.errors import SourceError
from pytest_videodecode.production.sources.files import RemoteFile, described

_TIMEOUT_S = 30.0


class HubFiles:
    """Files of one data set (or model) repository or bucket; ``root`` begins with ``hf://``."""

    def __init__(self, root: str, revision: str | None) -> None:
        self._root, self._revision = root.rstrip("/"), revision
        self._endpoint = os.environ.get("HF_ENDPOINT") or None
        self._prefix = ""
        self._process_files: tuple[int, Any] | None = None

    @property
    def shown(self) -> str:
        return f"hf://{self._prefix}" if self._prefix else self._root

    def connect(self) -> None:
        from huggingface_hub import HfApi

        found = self._files().resolve_path(self._root, revision=self._revision)
        if hasattr(found, "bucket_id"):
            if self._revision is not None:
                raise SourceError(f"{self._root}: a bucket has no revisions; leave out {self._revision!r}")
            self._prefix = f"buckets/{found.bucket_id}" + (f"/{found.path}" if found.path else "")
            return
        api = HfApi(endpoint=self._endpoint)
        commit = api.repo_info(found.repo_id, repo_type=found.repo_type, revision=found.revision).sha
        kind = "" if found.repo_type == "model" else f"{found.repo_type}s/"
        below = f"/{found.path_in_repo}" if found.path_in_repo else ""
        self._prefix = f"{kind}{found.repo_id}@{commit}{below}"

    def look(self, path: str) -> RemoteFile:
        files, full = self._files(), f"{self._prefix}/{path}"
        return described(files.info(full), files.url(full))

    def list(self, folder: str) -> list[str]:
        found = self._files().find(f"{self._prefix}/{folder}".rstrip("/"))
        return [name.removeprefix(f"{self._prefix}/") for name in found]

    def fetch(self, file: RemoteFile, start: int, end: int) -> bytes:
        from huggingface_hub import get_session, hf_raise_for_status
        from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]  # re-exported lazily

        headers = {**build_hf_headers(), "Range": f"bytes={start}-{end - 1}", "Accept-Encoding": "identity"}
        response = get_session().get(file.url, headers=headers, timeout=_TIMEOUT_S)
        hf_raise_for_status(response)
        content: bytes = response.content
        # A server that does not know ranges answers 200 with the whole file.
        return content if response.status_code == 206 else content[start:end]

    def _files(self) -> Any:
        if self._process_files is None or self._process_files[0] != os.getpid():
            from huggingface_hub import HfFileSystem

            # A fresh one, not the library's own that all share: what it has listed must be no older than this source.
            self._process_files = os.getpid(), HfFileSystem(endpoint=self._endpoint, skip_instance_cache=True)
        return self._process_files[1]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_process_files": None}
