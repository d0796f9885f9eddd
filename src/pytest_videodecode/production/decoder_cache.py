"""``DecoderCache``: clips that stay open between requests."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pytest_videodecode.production.errors import DecoderCacheError
from pytest_videodecode.production.reading.open_clip import OpenClip
from pytest_videodecode.production.reading.video_source import Identity, VideoSource


@dataclass(frozen=True)
class CacheStatistics:
    """Counts since the cache was made (in this process); ``size`` is how many clips are open now."""

    hits: int
    misses: int
    evictions: int
    hit_rate: float
    size: int
    max_size: int


_Key = tuple[str, str]


class DecoderCache:
    """At most ``max_size`` open clips, the least recently used closed first.

    A clip is known by its path or URL and the device. A file that was replaced, or has grown or shrunk, is opened anew
    (device, inode, size and time of change are compared at each request), and so is one whose decoder has another
    number of threads than asked; a URL is trusted to stay what it is. File objects are never kept. A clip in which a
    request failed is closed.

    Any number of threads may share a cache. An open clip is lent to one of them at a time and is neither evicted nor
    given to another meanwhile: who asks for a clip that is lent gets a second one of the same file. While more than
    ``max_size`` threads decode at once there are as many open clips as threads; what comes back beyond ``max_size``
    is closed.

    After a fork the child starts with an empty cache: the clips of its parent are never used nor freed there, since
    freeing one waits for threads that a fork does not copy. Pickled, a cache arrives empty, of the same size.

    Raises:
        DecoderCacheError: ``max_size`` is no whole number from 1 on.
    """

    def __init__(self, max_size: int = 16) -> None:
        if isinstance(max_size, bool) or not isinstance(max_size, int) or max_size < 1:
            raise DecoderCacheError(f"max_size is {str(max_size)[:40]}; give a whole number, 1 or more")
        self._max_size = max_size
        self._start()

    def _start(self) -> None:
        self._lock = threading.Lock()
        self._idle: OrderedDict[_Key, list[_Kept]] = OrderedDict()
        self._lent: dict[int, _Kept] = {}
        self._size = 0
        self._hits = self._misses = self._evictions = 0
        self._closed = False
        self._pid = os.getpid()

    @property
    def statistics(self) -> CacheStatistics:
        """How often a clip was found open, opened, closed to make room, and how many are open."""
        self._notice_fork()
        with self._lock:
            asked = self._hits + self._misses
            return CacheStatistics(
                hits=self._hits,
                misses=self._misses,
                evictions=self._evictions,
                hit_rate=self._hits / asked if asked else 0.0,
                size=self._size,
                max_size=self._max_size,
            )

    def __len__(self) -> int:
        self._notice_fork()
        return self._size

    @contextmanager
    def lend(self, source: VideoSource, threads: int | None, device: str) -> Iterator[OpenClip]:
        """An open clip of ``source``, the caller's alone until the block ends; closed if that is by an error.

        Raises:
            DecoderCacheError: the cache is closed.
            Exception: see ``VideoSource.open``.
        """
        self._notice_fork()
        key = (source.key, device)
        kept = self._take(key, source.identity, threads) or self._open(key, source, threads)
        try:
            yield kept.clip
        except BaseException:
            self._end([kept])
            raise
        self._give_back(kept)

    def _take(self, key: _Key, identity: Identity | None, threads: int | None) -> _Kept | None:
        """An idle clip that serves, lent from now on; if none does, those of that key are closed."""
        stale: list[_Kept] = []
        with self._lock:
            if self._closed:
                raise DecoderCacheError("the decoder cache is closed; make a new one")
            same = self._idle.pop(key, [])
            found = next((kept for kept in reversed(same) if kept.serves(identity, threads)), None)
            if found is None:
                self._misses += 1
                stale = same + self._surplus(self._size - len(same) + 1)
            else:
                self._hits += 1
                same.remove(found)
                self._lent[id(found)] = found
                if same:
                    self._idle[key] = same
        self._end(stale)
        return found

    def _open(self, key: _Key, source: VideoSource, threads: int | None) -> _Kept:
        kept = _Kept(key, source.identity, threads, source.open(threads, key[1]))
        with self._lock:
            self._lent[id(kept)] = kept
            self._size += 1
        return kept

    def _give_back(self, kept: _Kept) -> None:
        with self._lock:
            self._lent.pop(id(kept), None)
            self._idle.setdefault(kept.key, []).append(kept)
            self._idle.move_to_end(kept.key)
            surplus = self._surplus(self._size) if not self._closed else self._all_idle()
        self._end(surplus)

    def _surplus(self, size: int) -> list[_Kept]:
        """Idle clips to end, the least recently used first, so that of ``size`` clips no more than allowed remain."""
        evicted: list[_Kept] = []
        while self._idle and size - len(evicted) > self._max_size:
            key, clips = next(iter(self._idle.items()))
            evicted.append(clips.pop(0))
            if not clips:
                del self._idle[key]
        self._evictions += len(evicted)
        return evicted

    def _all_idle(self) -> list[_Kept]:
        idle = [kept for clips in self._idle.values() for kept in clips]
        self._idle.clear()
        return idle

    def _end(self, ended: list[_Kept]) -> None:
        with self._lock:
            self._size -= len(ended)
            for kept in ended:
                self._lent.pop(id(kept), None)
        for kept in ended:
            kept.clip.close()

    def clear(self) -> None:
        """Closes every clip that is not lent; counts stay."""
        self._notice_fork()
        with self._lock:
            idle = self._all_idle()
        self._end(idle)

    def close(self) -> None:
        """Closes every clip, a lent one when it comes back. A closed cache serves no request."""
        self._notice_fork()
        self._closed = True
        self.clear()

    def __enter__(self) -> DecoderCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _notice_fork(self) -> None:
        # clips that are dropped here are not freed: see OpenClip.close
        if self._pid != os.getpid():
            closed = self._closed
            self._start()
            self._closed = closed

    def __reduce__(self) -> Any:
        return DecoderCache, (self._max_size,)


@dataclass(frozen=True, eq=False)
class _Kept:
    key: _Key
    identity: Identity | None
    threads: int | None
    clip: OpenClip

    def serves(self, identity: Identity | None, threads: int | None) -> bool:
        """Whether it is the file that ``identity`` is, and its decoder has as many threads as are asked."""
        return self.identity == identity and (self.threads == threads or not self.clip.has_pool)
