"""Original and candidate, timed in turns: pairs of processes, as many as an effort is worth."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from runners import cubin
from runners.handed_on import handed_on
from runners.program_compare import Bounds
from runners.program_failing import Failed, alive
from runners.program_profile import Profile
from runners.program_recent import Recent
from runners.program_report import Report
from runners.program_run import Probe, Ran
from runners.program_timing import Timed
from runners.program_trial import Trial

# Process pairs: fewest and most.
PAIRS = {"screen": (1, 3), "race": (4, 10), "confirm": (5, 16)}
# Seconds after which no further pair is begun, of each case, and of all cases of a confirmation.
SECONDS = {"screen": 4.0, "race": 40.0}
CONFIRM_SECONDS = 60.0
REPLAY_MS = {"screen": 300.0, "race": 300.0, "confirm": 500.0}


@dataclass(frozen=True, slots=True)
class Pairs:
    """Times a trial. Two screenings in turn share a run of the original, kept in `recent`."""

    trial: Trial
    recent: Recent

    def all(
        self,
        originals: Sequence[Profile],
        bounds: Bounds,
        done: list[dict[str, Any]],
        spent: dict[str, float],
    ) -> list[Timed]:
        """Time all cases in turn; what that takes is counted in `spent`, case by case."""
        measured: list[Timed] = []
        whole = CONFIRM_SECONDS + 2 * sum(original.seconds for original in originals)
        for number, original in enumerate(originals):
            begun = time.monotonic()
            within = _share(self.trial.effort, originals[number:], whole - spent["time"])
            measured.append(self.time(original, bounds, done, within))
            spent["time"] += time.monotonic() - begun
        return measured

    def time(
        self, original: Profile, bounds: Bounds, done: list[dict[str, Any]], within: float
    ) -> Timed:
        """Time original and candidate in turns; the candidate's first run is a verified one.

        After `within` seconds no further pair is begun, but the fewest.
        """
        trial = self.trial
        fewest, most = (1, 1) if trial.itself else PAIRS.get(trial.effort, PAIRS["screen"])
        timed = Timed(original)
        poison = original.main_poison
        quiet = Probe(
            poison, trial.seed, plans=original.plans, replay_ms=REPLAY_MS.get(trial.effort, 300.0)
        )
        watched = replace(quiet, record=True)
        # What is compared runs as it would by itself; what is only timed must not live on what an
        # earlier launch has left in variables that the original does not have.
        mine_alone = replace(quiet, fresh=_added(trial.request, trial.sources[0]))
        rehearsed = original.rehearsal if trial.itself and original.plans else None
        if rehearsed is not None or not original.plans or trial.effort == "confirm":
            run = rehearsed or trial.candidate(original, watched)
            trial.verify(original, run, poison, bounds, done, printed=not original.plans)
            counts = _counts(run)
        else:
            run, counts = None, None
        last = trial.deadline - 3 * original.seconds
        deadline = min(time.monotonic() + within, last, trial.until)
        for pair in range(most):
            first = run if pair == 0 and original.plans and run is not None else None
            theirs = self._shared(original) if pair == 0 else None
            if theirs is not None:
                mine = first or self._once(original, mine_alone, counts, watched)
            elif (pair + trial.seed) % 2 and trial.effort != "screen":
                mine = first or self._once(original, mine_alone, counts, watched)
                theirs = self._original(original, quiet)
            else:
                theirs = self._original(original, quiet)
                if pair == 0:
                    self.recent.keep(_shared_key(trial.request, original), theirs)
                mine = first or self._once(original, mine_alone, counts, watched)
            if counts is None:
                trial.verify(original, mine, poison, bounds, done, printed=False)
                counts = _counts(mine)
            alive(mine, original, trial.limit(original), host=trial.host)
            assert mine.report is not None  # noqa: S101 - alive() saw it
            timed.add(theirs, mine.report)
            if pair + 1 < fewest:
                continue
            if timed.settled(trial.effort) or time.monotonic() > deadline:
                break
        return timed

    def _once(
        self, original: Profile, quiet: Probe, counts: tuple[int, int] | None, watched: Probe
    ) -> Ran:
        if counts is None:
            return self.trial.candidate(original, watched)
        return self.trial.candidate(original, replace(quiet, stop=counts))

    def _shared(self, original: Profile) -> Report | None:
        """Return the original's run that the screening before this one timed, if there is one."""
        if self.trial.effort != "screen":
            return None
        return self.recent.take(_shared_key(self.trial.request, original))

    def _original(self, original: Profile, quiet: Probe) -> Report:
        probe = replace(quiet, stop=(original.launches, original.copies))
        path = Path(self.trial.request["baseline"]["path"])
        run = self.trial.patiently(path, original, probe)
        if run.exit is None:  # it works: what it was given to learn about it shows that
            run = self.trial.patiently(path, original, probe)
        if run.report is None or run.report.broken:
            why = run.tail or run.trouble or "it did not end in time"
            text = f"the original failed when it was timed: {why}"
            raise Failed("crashed", text)
        return run.report


def _shared_key(request: Mapping[str, Any], original: Profile) -> str:
    return repr((request["baseline"]["path"], original.arguments, original.main_poison))


def _share(effort: str, left: Sequence[Profile], remaining: float) -> float:
    """Return after how many seconds of timing no further pair of the first of some cases is begun.

    Cases of a confirmation share what remains of one time as long as their runs are, so that all
    get as many pairs on a busy host, on which none is settled; what one leaves is for the next.
    """
    original = left[0]
    if effort in SECONDS:
        return SECONDS[effort] + 2 * original.seconds
    whole = sum(one.seconds for one in left)
    return max(remaining, 0.0) * (original.seconds / whole if whole else 1.0)


def _added(request: Mapping[str, Any], source: str) -> tuple[str, ...]:
    """Return the device variables of a candidate's kernels, one each, that its original lacks."""
    code = []
    for which in ("candidate", "baseline"):
        path = Path(str(request[which].get("cubin") or ""))
        code.append(path.read_bytes() if path.is_file() else b"")
    found = cubin.added(code[0], code[1])
    kept = handed_on(source, found)
    return tuple(one for one in found if one not in kept)


def _counts(run: Ran) -> tuple[int, int]:
    assert run.report is not None  # noqa: S101 - callers have looked
    return run.report.launches, run.report.copies
