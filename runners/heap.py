"""How this process keeps memory that arrays have given back."""

from __future__ import annotations

import ctypes

# Parameters of glibc's mallopt(3).
_MMAP_MAX, _TRIM_THRESHOLD = -4, -1
_MOST = 2**31 - 1


def keep_freed() -> bool:
    """Have malloc keep freed memory instead of giving it back to the system; tell whether it does.

    Comparing outputs makes and drops arrays of megabytes by the thousand. Each would be mapped
    anew, and the system would clear every page of it at its first touch: half of the time that
    array work takes, more on virtual machines. What the process holds stays at its peak.
    """
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):  # another C library: nothing is lost but time
        return False
    return bool(mallopt(_MMAP_MAX, 0)) and bool(mallopt(_TRIM_THRESHOLD, _MOST))
