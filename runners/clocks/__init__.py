"""Clocks of one shared object alone, which can be moved on while everybody else's stay.

A library of ours, built once with the host's compiler, writes its own functions into the tables
through which a loaded object calls others: what tells the time, what sleeps or waits until a time,
and what finds functions by name or number, as `dlsym` and `syscall` do. It is done to an object
that is loaded, not by linking something in: what is compiled, cached, compared and timed stays what
it was, and its symbols are its own. The runner, the CUDA runtime and other objects of the process
keep their clocks.

Not seen: an address that a constructor looked up and kept, as these run before; instructions that
tell the time (`rdtsc`); files, timers that send signals, and events of the GPU; libraries that it
asks.
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
    return native.built(SOURCES, "optiml-clocks", cache, "clocks of entry functions are moved on")


class Clocks:
    """The clocks that objects of this process were given, all moved on together.

    Raises `OSError` when the library does not load.
    """

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path), mode=ctypes.RTLD_LOCAL)
        self._library.optiml_clocks_take.argtypes = [ctypes.c_void_p]
        self._library.optiml_clocks_take.restype = ctypes.c_int64
        self._library.optiml_clocks_move.argtypes = [ctypes.c_int64]
        self._library.optiml_clocks_move.restype = None

    def take(self, loaded: ctypes.CDLL) -> int:
        """Give a loaded object these clocks; return at how many places it calls such functions."""
        return int(self._library.optiml_clocks_take(loaded._handle))  # noqa: SLF001 - dlopen's handle

    def move(self, seconds: float) -> None:
        """Have them be so far ahead of what they really are."""
        self._library.optiml_clocks_move(int(seconds * 1e9))
