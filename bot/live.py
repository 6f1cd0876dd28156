"""A job's state as a stream of server-sent events, for its page."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

_EVERY = 1.0  # seconds between two looks at a job
_ALIVE = 15.0  # seconds after which something is sent, so that no proxy takes the line for dead
_LONGEST = 600.0  # seconds; the browser comes again by itself
_MOST = 200  # streams at once

State = Mapping[str, Any] | None


class Streams:
    """What is told to the pages that are open. However many look at a job, it is read once a look.

    `read` returns a job's state, None when there is no such job; it may wait for a database.
    """

    def __init__(self, read: Callable[[str], State], *, every: float = _EVERY) -> None:
        self._read, self._every = read, every
        self._seen: dict[str, tuple[float, State]] = {}
        self._open = 0

    @property
    def is_full(self) -> bool:
        """Tell whether as many look on as may."""
        return self._open >= _MOST

    async def of(self, job_id: str) -> AsyncIterator[bytes]:
        """Yield a job's state whenever it changes, and `over` when there is no more to come."""
        self._open += 1
        try:
            began = told = time.monotonic()
            shown = ""
            yield b"retry: 2000\n\n"
            while time.monotonic() - began < _LONGEST:
                state = await self._look(job_id)
                if state is None:
                    return
                text = json.dumps(state)
                if text != shown:
                    shown, told = text, time.monotonic()
                    yield f"event: state\ndata: {text}\n\n".encode()
                elif time.monotonic() - told > _ALIVE:
                    told = time.monotonic()
                    yield b": nothing new\n\n"
                if state["over"]:
                    yield b"event: over\ndata: {}\n\n"
                    return
                await asyncio.sleep(self._every)
        finally:
            self._open -= 1
            self._seen.pop(job_id, None)

    async def _look(self, job_id: str) -> State:
        at, state = self._seen.get(job_id, (0.0, None))
        if time.monotonic() - at >= self._every * 0.9:
            state = await asyncio.to_thread(self._read, job_id)
            self._seen[job_id] = time.monotonic(), state
        return state
