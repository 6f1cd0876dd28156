"""The last timed run of an original, which serves the candidate before it and the one after it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from runners.program_report import Report

# Starting a process costs more than most programs run. Two candidates in turn may share a run of
# the original that lies right before the first and this many seconds, at most, before the second:
# the GPU's clocks drift over minutes.
RECENT_SECONDS = 8.0


@dataclass(slots=True)
class Recent:
    """Keeps one run, by the program and the way it was run; gives it out once."""

    clock: Callable[[], float] = time.monotonic
    _key: str = ""
    _report: Report | None = None
    _at: float = field(default=0.0)

    def keep(self, key: str, report: Report) -> None:
        """Keep a run that has just ended and has served one candidate."""
        self._key, self._report, self._at = key, report, self.clock()

    def take(self, key: str) -> Report | None:
        """Return the run kept under a key if it is recent, and forget it."""
        found, self._report = self._report, None
        fresh = self.clock() - self._at <= RECENT_SECONDS
        return found if found is not None and fresh and key == self._key else None
