"""Imported once, in the process that the seats of ``concurrency`` are forked from; nothing is decoded there."""

from __future__ import annotations

import contextlib

import benchmarks.decode.peers  # noqa: F401

with contextlib.suppress(ImportError, RuntimeError, OSError):  # without it, the peer says why it is missing
    import torchcodec.decoders  # noqa: F401
