"""Wait until there is something to read from a process."""

from __future__ import annotations

import select


def readable(descriptor: int, seconds: float) -> bool:
    """Tell whether within so many seconds there is something to read, or nothing more to come.

    Unlike `select.select` this takes any descriptor: a server that serves many has some beyond
    1023.
    """
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(max(0.0, seconds) * 1000.0))
