"""Looks for what may make a program's candidate differ, where nobody declared the arguments.

Its original is run again there: is it the same each time, does it stay within its memory, does it
end as soon as before, and does it do the same where it rounds otherwise. Each of these may take
longer than all that was asked before, and is paid only for a candidate that differs.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runners import sanitizer
from runners.program_compare import Bounds
from runners.program_failing import Failed
from runners.program_glimpse import Glimpse, Original
from runners.program_profile import Profile
from runners.program_run import Probe, Ran
from runners.program_trial import Trial
from runners.program_variants import Asked, Variants

# Runs of the original, and seconds of memcheck, before a difference is believed.
AGAIN, WATCH_SECONDS = 2, 30.0
# With less left of a judge's time nothing is looked into.
LEAST_SECONDS = 20.0
# An original that takes this part of a candidate's time-out is no measure of it.
PATIENT = 3.0


def failing(
    trial: Trial, original: Profile, probe: Probe, bounds: Bounds, path: Path | None = None
) -> tuple[Failed | None, Ran]:
    """Run a candidate, or what is at a path, as an original was run; return how it fails."""
    program = path or Path(str(trial.request["candidate"]["path"]))
    run = trial.patiently(program, original, probe)
    done: list[dict[str, Any]] = []
    try:
        trial.verify(original, run, probe.poison, bounds, done)
    except Failed as failure:
        return failure, run
    return None, run


@dataclass(frozen=True, slots=True)
class Doubt:
    """A candidate that differs with some arguments, and all that is known of its original there."""

    trial: Trial
    original: Original
    seen: Glimpse
    probe: Probe
    bounds: Bounds

    def why(self, failure: Failed, run: Ran, variants: Variants) -> str | None:
        """Say why a difference may be none; empty where it is one, None if nothing can be said."""
        if not self._steady(failure):
            return None
        if failure.status in {"crashed", "timed out"}:
            again, _ = failing(self.trial, self.seen.profile, self.probe, self.bounds)
            if again is None:
                return None
        if failure.status == "timed out":
            return ""
        if self._reaches_beyond():
            return None
        beyond = run.report is not None and len(run.report.guards) > self.seen.profile.guards
        if failure.status == "crashed" or beyond:
            return ""
        if self.trial.deadline - time.monotonic() < LEAST_SECONDS:
            return "there was no time to find out why"
        limit = self.trial.limit(self.seen.profile)
        asked = Asked(self.probe, self.bounds, limit)
        return variants.explain(self.trial.runner, self.seen.profile, run, asked)

    def _steady(self, failure: Failed) -> bool:
        """Tell whether the original still does what it did, as soon, each time."""
        for _ in range(AGAIN):
            if time.monotonic() + 2 * self.seen.profile.seconds > self.trial.deadline:
                return False
            path = self.original.program
            other, run = failing(self.trial, self.seen.profile, self.probe, self.bounds, path)
            limit = self.trial.limit(self.seen.profile)
            slow = failure.status == "timed out" and PATIENT * run.seconds > limit
            if other is not None or slow or not self.original.well(run):
                return False
        return True

    def _reaches_beyond(self) -> bool:
        """Tell whether memcheck sees the original read or write outside of its memory there."""
        program = sanitizer.command()
        seconds = min(WATCH_SECONDS, self.trial.deadline - time.monotonic() - LEAST_SECONDS)
        if program is None or seconds <= 0:
            return False
        line = sanitizer.prefix(program, "memcheck", seconds)
        arguments = self.seen.profile.arguments
        done = self.trial.runner.watched(self.original.program, arguments, line, seconds)
        text = (done.stdout + done.stderr).decode(errors="replace")
        found = sanitizer.read("memcheck", text, seconds, late=done.exit is None, ran=(1, 1))
        return bool(found.errors)
