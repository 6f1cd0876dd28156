"""What one run brought back: its outputs, and what it wrote where it should not have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from runners.arena import Layout
from runners.cuda_types import Storage


@dataclass(frozen=True, slots=True)
class Damage:
    """What a run changed that it should not have: counts of 16-byte words."""

    guards: int = 0
    inputs: int = 0
    first: str = ""

    def __bool__(self) -> bool:
        return bool(self.guards or self.inputs)

    @property
    def words(self) -> str:
        """Say what was damaged and where."""
        sizes = f"({self.guards + self.inputs} words of 16 bytes)"
        if self.guards and self.inputs:
            return f"wrote outside its outputs: first {self.first} {sizes}"
        if self.guards:
            return f"wrote outside its buffers: {self.first} {sizes}"
        return f"changed an input: {self.first} {sizes}"


@dataclass(frozen=True, slots=True)
class Run:
    """Outputs of one run as bytes by argument name, with the poison they were full of before.

    `strays` is how much host code queued on streams other than the null stream, and `refused` the
    error of the first of its launches that was refused, both where that is seen. `took_us` is what
    the device took for it, and the host where it was waited for; zero where nobody asked.
    """

    outputs: dict[str, Storage]
    damage: Damage
    late_us: float
    poison: int
    strays: int = 0
    refused: int = 0
    took_us: float = 0.0


def damage(layout: Layout, counts: npt.NDArray[np.uint64]) -> Damage:
    """Put what the check counted into words: which buffer, which side."""
    guards, changed, first = (int(c) for c in counts)
    if not guards and not changed:
        return Damage()
    where = "a guard band"
    for buffer in layout.buffers:
        start, end = buffer.offset, buffer.offset + buffer.size
        if start <= first < end:
            where = f"{buffer.name} at byte {first - start}"
        elif end <= first:
            where = f"{first - end + 1} bytes past the end of {buffer.name}"
        elif first < start and where == "a guard band":
            where = f"{start - first} bytes before {buffer.name}"
    return Damage(guards, changed, where)
