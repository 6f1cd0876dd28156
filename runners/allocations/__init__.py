"""Device memory that host code allocates for itself, counted inside its process.

A library of ours, built once with the host's compiler, takes the runtime's allocating functions'
place for code that is loaded after it. What a library such as cuBLAS allocates through the driver
is not seen.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

from runners import native

SOURCES = Path(__file__).parent


def library(cache: Path) -> Path:
    """Return the built library, building it into `cache` when it is not there yet.

    Raises `Fault` (ConfigError) when there is no C++ compiler or it refuses.
    """
    return native.built(
        SOURCES, "optiml-allocations", cache, "memory of entry functions is counted"
    )


class Allocations:
    """The count of this process; to be made before code that is counted is loaded.

    Raises `OSError` when the library does not load.
    """

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
        self._library.optiml_allocates.argtypes = [ctypes.c_int64]
        self._library.optiml_allocates.restype = None
        self._library.optiml_allocated.argtypes = [ctypes.c_int64]
        self._library.optiml_allocated.restype = ctypes.c_uint64
        self._owners = 0

    def owner(self) -> int:
        """Return a number for somebody new."""
        self._owners += 1
        return self._owners

    def begins(self, owner: int) -> None:
        """Count what is allocated from now on as somebody's."""
        self._library.optiml_allocates(owner)

    def most(self, owner: int) -> int:
        """Return the most bytes somebody held at once."""
        return int(self._library.optiml_allocated(owner))
