"""How much longer a program is waited for: its original is run beside it when its time is over.

A host that is busy for a few seconds holds up a candidate that has launched as well as one that has
not. What hangs never ends; what is held up ends once the host has time again, and its original, run
meanwhile, tells how long that is. It is the same run that is waited for: one that only ends when it
is started again has hung.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from runners.program_profile import Profile, patience
from runners.program_run import Probe, Runner

# At least as long again as the original took beside it, and so many seconds.
LEAST_SECONDS = 2.0
# So many times the limit the original may take there: what hangs might keep a GPU from others.
MOST_TIMES = 2.0


def more_for(took: float, limit: float) -> float:
    """Return the seconds beyond a limit, for what took its original so long beside it.

    In all, that is what a candidate would have had from the beginning.

    >>> more_for(0.5, 5.0), more_for(4.0, 10.0)
    (2.5, 9.0)
    """
    return max(patience(took) - limit - took, LEAST_SECONDS + took)


def waiting(
    runner: Runner, path: Path, original: Profile, probe: Probe, bounds: tuple[float, float]
) -> Runner:
    """Return a runner that waits for a late candidate as its original, at a path, takes beside it.

    `probe` is the candidate's. `bounds` are its limit, and the seconds beyond that at most.
    """
    stop = (original.launches, original.copies) if probe.stop else None
    theirs = replace(probe, stop=stop, fresh=())
    return replace(runner, late=_asking(runner, path, original, theirs, bounds))


def _asking(
    runner: Runner, path: Path, original: Profile, probe: Probe, bounds: tuple[float, float]
) -> Callable[[], float]:
    limit, most = bounds

    def late() -> float:
        begun = time.monotonic()
        runner.run(path, original.arguments, probe, min(MOST_TIMES * limit, most / 2))
        took = time.monotonic() - begun
        return max(min(more_for(took, limit), most - took), 0.0)

    return late
