"""Does a program wait for its copies? Runs it with those of page-locked memory held back.

`cudaMemcpyAsync` to page-locked memory returns before the bytes are there. Who waits for an event
that was recorded in front of the copy reads them in time on most machines, and former ones on a
busy one. Nor does it show in a run whose copies are kept, as each is waited for then. So one run
has every such copy wait on its stream for some milliseconds, which any device may do, and what is
printed is compared. Who waits for the copy loses the time and nothing else.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from runners.program_failing import Failed, alive, check
from runners.program_profile import Profile
from runners.program_run import Probe, Ran
from runners.program_trial import Trial

LAYER = "late copies"
# Copies wait so long, in ms: all of a run together no longer than some seconds (`kMostHeld`,
# runners/interposer/hooks.cpp), and each longer than the host takes to queue some launches.
MOST, LEAST, TOGETHER = 20, 2, 1500
# What the interposer notes where it held back any, and runs that one such run may come to.
HELD, EACH = "held back", 5
_COPIES = re.compile(r"Memcpy\w*Async", re.ASCII)
_PINNED = re.compile(r"MallocHost|HostAlloc|HostRegister", re.ASCII)


def ask(trial: Trial, originals: Sequence[Profile], done: list[dict[str, Any]]) -> list[str]:
    """Run a candidate with late copies, on its shortest run; raise `Failed`, return notes."""
    mine = trial.sources[0]
    original = min(originals, key=lambda one: one.seconds)
    if not (trial.host and _COPIES.search(mine) and _PINNED.search(mine)):
        return []
    if original.idle or original.cut:
        return []
    left = min(trial.until, trial.deadline) - time.monotonic()
    if left < EACH * (original.seconds + 2.0):
        return [f"{LAYER}: there is no time left"]
    probe = Probe(
        original.main_poison,
        trial.seed,
        late=min(MOST, max(LEAST, TOGETHER // max(1, original.copies))),
    )
    first = trial.candidate(original, probe)
    failure = _failing(trial, original, first)
    if failure is not None and _blamed(trial, original, probe):
        done.append(check(LAYER, original.name, passed=False))
        held = f"with its asynchronous copies held back by {probe.late} ms"
        raise Failed(failure.status, f"{held}: {failure.log}")
    if failure is None and first.report is not None and HELD in first.report.notes:
        done.append(check(LAYER, original.name, passed=True))
    return []


def _blamed(trial: Trial, original: Profile, probe: Probe) -> bool:
    """Tell whether late copies make the difference, each time, and none to the original."""
    if _failing(trial, original, trial.candidate(original, probe)) is None:
        return False
    if _failing(trial, original, trial.candidate(original, replace(probe, late=0))) is not None:
        return False
    theirs = trial.patiently(Path(str(trial.request["baseline"]["path"])), original, probe)
    return _failing(trial, original, theirs) is None


def _failing(trial: Trial, original: Profile, run: Ran) -> Failed | None:
    """Return how a run fails, by its end and by what it prints."""
    try:
        alive(run, original, trial.limit(original), host=trial.host)
    except Failed as failure:
        return failure
    other = trial.misprinted(original, run)
    return Failed("wrong result", f"{original.name}: {other}") if other else None
