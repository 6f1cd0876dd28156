"""What host code allocates, what it queues on streams of its own, and whether launches are refused.

A library of ours, built once with the host's compiler, takes the place of some of the runtime's
functions for code that is loaded after it. What a library such as cuBLAS does through the driver is
not seen. What it hands out may be filled, too: memory that no process had before is zero.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

from runners import native

SOURCES = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Holdings:
    """What somebody holds of the runtime's things: bytes of memory, and how many of the others.

    Graphs are those that can be launched, too.
    """

    device: int = 0
    pinned: int = 0
    streams: int = 0
    events: int = 0
    graphs: int = 0


# In the library's order.
KINDS = tuple(field.name for field in fields(Holdings))


def library(cache: Path) -> Path:
    """Return the built library, building it into `cache` when it is not there yet.

    Raises `Fault` (ConfigError) when there is no C++ compiler or it refuses.
    """
    return native.built(
        SOURCES, "optiml-allocations", cache, "memory of entry functions is counted"
    )


class Allocations:
    """The counts of this process; to be made before code that is counted is loaded.

    Raises `OSError` when the library does not load.
    """

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
        self._library.optiml_allocates.argtypes = [ctypes.c_int64]
        self._library.optiml_allocates.restype = None
        self._library.optiml_allocated.argtypes = [ctypes.c_int64]
        self._library.optiml_allocated.restype = ctypes.c_uint64
        self._library.optiml_holds.argtypes = [ctypes.c_int64, ctypes.c_int64]
        self._library.optiml_holds.restype = ctypes.c_uint64
        self._library.optiml_strays.argtypes = []
        self._library.optiml_strays.restype = ctypes.c_uint64
        self._library.optiml_refused.argtypes = []
        self._library.optiml_refused.restype = ctypes.c_int
        self._library.optiml_hold.argtypes = [ctypes.c_int64, ctypes.c_int64]
        self._library.optiml_hold.restype = None
        self._library.optiml_fill.argtypes = [ctypes.c_int]
        self._library.optiml_fill.restype = None
        self._owners = 0

    def owner(self) -> int:
        """Return a number for somebody new."""
        self._owners += 1
        return self._owners

    def begins(self, owner: int) -> None:
        """Count what is allocated from now on as somebody's."""
        self._library.optiml_allocates(owner)

    def most(self, owner: int) -> int:
        """Return the most bytes of device memory somebody held at once."""
        return int(self._library.optiml_allocated(owner))

    def holds(self, owner: int) -> Holdings:
        """Return what somebody holds now."""
        held = (int(self._library.optiml_holds(owner, kind)) for kind in range(len(KINDS)))
        return Holdings(*held)

    def strays(self) -> int:
        """Return how much was queued on other streams than the null stream since the last look."""
        return int(self._library.optiml_strays())

    def refused(self) -> int:
        """Return the error of the first launch that was refused since the last look, or zero.

        One of no blocks is not counted, of which nothing is lost.
        """
        return int(self._library.optiml_refused())

    def fills(self, *, on: bool) -> None:
        """Have what is allocated from now on hold words that nobody means, or whatever it does."""
        self._library.optiml_fill(int(on))

    @contextlib.contextmanager
    def held(self, microseconds: int, most: int) -> Iterator[None]:
        """Hold up each of the next `most` things that are queued on other streams meanwhile."""
        self._library.optiml_hold(microseconds, most)
        try:
            yield
        finally:
            self._library.optiml_hold(0, 0)
