"""Classes that take their arguments in the ways of different loaders."""

from __future__ import annotations

from typing import Any


class Plain:
    def __init__(self, root: str, buffer_size: int = 1000) -> None:
        self.given: dict[str, Any] = {"root": root, "buffer_size": buffer_size}


class LeRobotLike:
    def __init__(self, repo_id: str, root: str | None = None, video_decoder_cache_size: int = 4) -> None:
        self.given = {"repo_id": repo_id, "root": root, "video_decoder_cache_size": video_decoder_cache_size}


class TakesAll:
    def __init__(self, **given: Any) -> None:
        self.given = given
