"""The last timed runs of an original: each serves the candidate before it and the one after it."""

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
    """Keeps a run of each case, by the program and the way it was run; gives each out once."""

    clock: Callable[[], float] = time.monotonic
    _kept: dict[str, tuple[Report, float]] = field(default_factory=dict[str, tuple[Report, float]])

    def keep(self, key: str, report: Report) -> None:
        """Keep a run that has just ended and has served one candidate."""
        now = self.clock()
        self._kept = {k: one for k, one in self._kept.items() if now - one[1] <= RECENT_SECONDS}
        self._kept[key] = report, now

    def take(self, key: str) -> Report | None:
        """Return the run kept under a key if it is recent, and forget it."""
        report, at = self._kept.pop(key, (None, 0.0))
        return report if self.clock() - at <= RECENT_SECONDS else None
