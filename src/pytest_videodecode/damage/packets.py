"""Operators on packets. The file is muxed again without them, with them twice or exchanged, and stays a valid one.

Packet numbers count the video packets, in order of decoding from 0, of the file as it comes. It must be undamaged but
for other operators on packets: it is demuxed in this process.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field

from pytest_videodecode.damage.base import Context, Operator, within
from pytest_videodecode.damage.remux import Sample, remux
from pytest_videodecode.errors import DamageError


@dataclass(frozen=True, kw_only=True, slots=True)
class PacketOperator(Operator):
    """An operator on the packet with this number."""

    packet: int

    def __post_init__(self) -> None:
        Operator.__post_init__(self)
        within("packet", self.packet, 0)

    def apply(self, data: bytes, context: Context) -> bytes:
        return remux(data, self._edit)

    @abstractmethod
    def _edit(self, samples: list[Sample]) -> None:
        """Change ``samples`` in place."""

    def _require(self, samples: list[Sample], number: int) -> None:
        if number >= len(samples):
            raise DamageError(f"{self.op}: the file has {len(samples)} video packets, counted from 0, no {number}")


@dataclass(frozen=True, kw_only=True, slots=True)
class DropPacket(PacketOperator):
    """Leave the packet out; the others keep their times."""

    op: str = field(default="drop_packet", repr=False)

    def _edit(self, samples: list[Sample]) -> None:
        self._require(samples, self.packet)
        del samples[self.packet]

    def __str__(self) -> str:
        return f"drop packet {self.packet}"


@dataclass(frozen=True, kw_only=True, slots=True)
class DuplicatePacket(PacketOperator):
    """Put the packet in twice; those behind come later by its duration."""

    op: str = field(default="duplicate_packet", repr=False)

    def _edit(self, samples: list[Sample]) -> None:
        self._require(samples, self.packet)
        first = samples[self.packet]
        again = Sample(first.packet, first.pts, first.dts, first.duration)
        behind = samples[self.packet + 1 :]
        gap = behind[0].dts - first.dts if behind and behind[0].dts is not None and first.dts is not None else 0
        for sample in (again, *behind):
            sample.later(gap or first.duration or 1)
        samples.insert(self.packet + 1, again)

    def __str__(self) -> str:
        return f"duplicate packet {self.packet}"


@dataclass(frozen=True, kw_only=True, slots=True)
class SwapPackets(PacketOperator):
    """Exchange two packets; times stay where they were."""

    op: str = field(default="swap_packets", repr=False)
    other: int

    def __post_init__(self) -> None:
        PacketOperator.__post_init__(self)
        within("other", self.other, 0)
        if self.other == self.packet:
            raise ValueError("packet and other are the same; give two")

    def _edit(self, samples: list[Sample]) -> None:
        self._require(samples, max(self.packet, self.other))
        one, two = samples[self.packet], samples[self.other]
        one.packet, two.packet = two.packet, one.packet

    def __str__(self) -> str:
        return f"swap packets {self.packet} and {self.other}"
