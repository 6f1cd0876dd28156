"""How often Python looks for cyclic garbage while a search runs.

A search makes and drops many trees of small objects. Python's usual pace looks at all of them
anew every few candidates, which took a third of the search's processor time; at this pace it does
so every hundred or so, and what was dropped, up to about 100 MB of it, waits meanwhile.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

# New objects between looks at the youngest, looks between those at the middle and at all: many
# at a time, since what survives one look costs the next one again.
PACE = (50_000, 1, 5)
_lock = Lock()
_running = 0
_usual = (0, 0, 0)


@contextmanager
def fewer_sweeps() -> Iterator[None]:
    """Have garbage looked for at `PACE`, for as long as any search of the process runs.

    A pace that is slower already, or none at all, stays as it is.
    """
    global _running, _usual  # noqa: PLW0603  the pace is the process's
    with _lock:
        if _running == 0:
            _usual = gc.get_threshold()
            if 0 < _usual[0] < PACE[0]:
                gc.set_threshold(*PACE)
        _running += 1
    try:
        yield
    finally:
        with _lock:
            _running -= 1
            if _running == 0:
                gc.set_threshold(*_usual)
