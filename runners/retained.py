"""What a module keeps in global memory from one launch to the next.

A counter, a table filled at the first call, a copy of the last answer: `__device__` variables
outlive a launch, and what they hold can decide what the next one does. Here they are read, set
ahead, and put back to what they were when the module was loaded.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from runners import cubin
from runners.gpu import LaunchError

MOST_BYTES = 64 << 20

Words = npt.NDArray[np.uint8]


class Memory(Protocol):
    """The part of a device that this needs."""

    def global_address(self, module: Any, symbol: str) -> tuple[int, int]:
        """Return address and size of a module's variable; raise `LaunchError` without it."""
        ...

    def upload(self, address: int, data: npt.NDArray[Any]) -> None:
        """Copy bytes to the device."""
        ...

    def download(self, address: int, size: int) -> npt.NDArray[np.uint8]:
        """Copy bytes from the device."""
        ...


class Retained:
    """The variables of one loaded module."""

    def __init__(self, gpu: Memory, module: Any, places: tuple[tuple[int, int], ...]) -> None:
        self._gpu, self._module, self._places = gpu, module, places
        self._first = self.read()

    def read(self) -> Words:
        """Return the bytes of all variables, one behind the other."""
        parts = [self._gpu.download(address, size) for address, size in self._places]
        return np.concatenate(parts)

    def write(self, data: Words) -> None:
        """Set all variables."""
        at = 0
        for address, size in self._places:
            self._gpu.upload(address, np.ascontiguousarray(data[at : at + size]))
            at += size

    def changed(self) -> bool:
        """Tell whether a variable holds something else than when the module was loaded."""
        return not np.array_equal(self.read(), self._first)

    def reset(self) -> None:
        """Put everything back to what it was when the module was loaded."""
        self.write(self._first)


def retained(gpu: Any, module: Any, image: bytes) -> Retained | None:
    """Return what a module retains; None when that is nothing, or more than is looked at."""
    places = []
    for symbol, _ in cubin.variables(image):
        try:
            address, size = gpu.global_address(module, symbol)
        except LaunchError:
            continue  # text of an assertion or a printf
        places.append((address, size))
    if not places or sum(size for _, size in places) > MOST_BYTES:
        return None
    return Retained(gpu, module, tuple(places))


def ahead(
    before: Words, one: Words, two: Words, rng: np.random.Generator, steps: int
) -> list[Words]:
    """Return what variables would hold after many more launches, from three readings in a row.

    Words that grew by the same amount twice are taken to go on like that, below 2^30. Empty when
    no word did.
    """
    usable = len(two) // 4 * 4
    a, b, c = (words[:usable].copy().view(np.uint32) for words in (before, one, two))
    step = c - b
    moving = (step == b - a) & (step != 0)
    if not moving.any():
        return []
    pace = np.abs(step[moving].view(np.int32).astype(np.int64)).max()
    reach = 2.0**30 / float(pace)
    found = []
    for place in range(steps):
        # From a few launches to as many as fit, evenly on a logarithmic scale.
        high = max(4.0, reach ** ((place + 1) / steps))
        low = max(1.0, reach ** (place / steps))
        times = int(rng.integers(int(low), int(high) + 1))
        words = two.copy()
        moved = c + np.where(moving, step * np.uint32(times & 0xFFFFFFFF), 0).astype(np.uint32)
        words[:usable] = moved.view(np.uint8)
        found.append(words)
    return found
