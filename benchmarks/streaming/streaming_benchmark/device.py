"""The device that batches are moved to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from streaming_benchmark.errors import BenchmarkError


class Device:
    """Moves batches as a training loop does; ``cuda`` without a number is the local rank's own.

    Raises:
        BenchmarkError: CUDA is asked for, and there is none.
    """

    def __init__(self, name: str, decode: str, local_rank: int = 0) -> None:
        option = "--device" if name.startswith("cuda") else "--video_decode_device"
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if (name.startswith("cuda") or decode == "cuda") and not count:
            raise BenchmarkError(f"{option} cuda: this machine has no CUDA device that torch can use; give cpu")
        self._device = torch.device(f"cuda:{local_rank % count}" if name == "cuda" else name)
        if self._device.type == "cuda" and (self._device.index or 0) >= count:
            raise BenchmarkError(f"--device {name}: there are {count} CUDA devices; give cuda:0 to cuda:{count - 1}")

    @property
    def pins(self) -> bool:
        """Whether batches should lie in pinned memory, for copies that run beside other work."""
        return self._device.type == "cuda"

    def move(self, batch: Any) -> Any:
        """``batch`` with every tensor on the device; the copies may still be running."""
        if isinstance(batch, torch.Tensor):
            return batch.to(self._device, non_blocking=True)
        if isinstance(batch, Mapping):
            return {name: self.move(value) for name, value in batch.items()}
        return [self.move(value) for value in batch] if isinstance(batch, list) else batch

    def finish(self) -> None:
        """Wait for all copies."""
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
