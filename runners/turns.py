"""Who uses a GPU now, among the processes of one run: one at a time, by a lock file.

Counters of the unedited kernel are read while its answers are worked out, mostly on the host. A
profiled launch and a timed one each want the GPU to themselves, and the launches between do not
mind to wait. Stdlib only.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator

# A profiled launch is repeated dozens of times; one that takes longer than this is not waited for.
WAIT_SECONDS = 40.0
_LOOK_SECONDS = 0.002


@contextlib.contextmanager
def turn(path: str, seconds: float = WAIT_SECONDS) -> Iterator[None]:
    """Hold the turn that belongs to a file; without one, or after `seconds`, go on all the same.

    A process that ends, however it does, gives it back.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC) if path else None
    except OSError:
        descriptor = None
    try:
        deadline = time.monotonic() + seconds
        while descriptor is not None and not _taken(descriptor) and time.monotonic() < deadline:
            time.sleep(_LOOK_SECONDS)
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a file system without locks: nobody else has one either
    return True
