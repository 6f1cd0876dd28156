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
# So many times as long as its original takes now, and so many times its limit, a program is given
# once more that twice did not come to its first launch.
AGAIN_TIMES, LEAST_AGAIN = 40.0, 4.0


def more_for(took: float, limit: float) -> float:
    """Return the seconds beyond a limit, for what took its original so long beside it.

    In all, that is what a candidate would have had from the beginning.

    >>> more_for(0.5, 5.0), more_for(4.0, 10.0)
    (2.5, 9.0)
    """
    return max(patience(took) - limit - took, LEAST_SECONDS + took)


def once_more(
    runner: Runner, path: Path, original: Profile, probe: Probe, bounds: tuple[float, float]
) -> float:
    """Return the seconds for what twice came to no launch: fewer where its original is quick.

    `bounds` are a candidate's limit, and the seconds at most: that much where the original, run
    now, takes its share of it or longer. What only a busy host holds up is slow itself.
    """
    limit, most = bounds
    if most <= LEAST_AGAIN * limit:
        return most
    took = _timed(runner, path, original, probe, most / AGAIN_TIMES)
    return min(max(AGAIN_TIMES * took, LEAST_AGAIN * limit), most)


def waiting(
    runner: Runner, path: Path, original: Profile, probe: Probe, bounds: tuple[float, float]
) -> Runner:
    """Return a runner that waits for a late candidate as its original, at a path, takes beside it.

    `probe` is the candidate's. `bounds` are its limit, and the seconds beyond that at most.
    """
    return replace(runner, late=_asking(runner, path, original, probe, bounds))


def _timed(runner: Runner, path: Path, original: Profile, probe: Probe, seconds: float) -> float:
    """Return how long an original takes now, where a candidate runs with this probe.

    It runs to its own last launch, without what a candidate has more.
    """
    stop = (original.launches, original.copies) if probe.stop else None
    begun = time.monotonic()
    runner.run(path, original.arguments, replace(probe, stop=stop, fresh=()), seconds)
    return time.monotonic() - begun


def _asking(
    runner: Runner, path: Path, original: Profile, probe: Probe, bounds: tuple[float, float]
) -> Callable[[], float]:
    limit, most = bounds

    def late() -> float:
        took = _timed(runner, path, original, probe, min(MOST_TIMES * limit, most / 2))
        return max(min(more_for(took, limit), most - took), 0.0)

    return late
