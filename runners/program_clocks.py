"""Is a program right at another date? Runs one whose host code knows the time with its clock set.

Each run of a program begins at one and the same date (`runners/interposer/process.cpp`), so that
what takes a seed from the clock takes the same one. What asks for a date is found right then, or
wrong, whatever the date is: so it is run as it is now, a day and 400 days from now, and at times
drawn in between, as its original is.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from runners.inputs import stream
from runners.moved_clocks import DAY, LAYER, LONGEST, asked_of, words
from runners.program_compare import Bounds
from runners.program_failing import Failed, check
from runners.program_profile import Profile
from runners.program_run import Probe, Ran
from runners.program_trial import Trial

# Runs of candidate and original that one such run may come to; and of the time that is left, which
# taking times needs, all of them may use such a share.
EACH, SHARE = 3, 0.2
ANOTHER = "not looked at with its clock at another date: its original gives something else then"


def ask(
    trial: Trial, originals: Sequence[Profile], bounds: Bounds, done: list[dict[str, Any]]
) -> list[str]:
    """Run a candidate at other times, on its shortest run; raise `Failed`, return notes."""
    if asked_of(trial.request, trial.sources) is None:
        return []
    original = min(originals, key=lambda one: one.seconds)
    drawn = stream(trial.seed, "clock", *trial.sources).random(2)
    chosen = (0.0, DAY, LONGEST, DAY * float(drawn[0]), LONGEST * float(drawn[1]))
    left = min(trial.until, trial.deadline) - time.monotonic()
    ends = time.monotonic() + SHARE * left
    for number, ahead in enumerate(chosen):
        if time.monotonic() > ends or left < EACH * original.seconds:
            some = f"set {number} times, not {len(chosen)}" if number else "not set"
            return [f"its clock was {some}: there is no time left"]
        note = _at(trial, original, bounds, ahead)
        if note:
            return [note]
        done.append(check(LAYER, f"{original.name}: {_said(ahead)}", passed=True))
    return []


def _at(trial: Trial, original: Profile, bounds: Bounds, ahead: float) -> str:
    """Run it so many seconds from now; raise `Failed` where its original is right.

    Return what is to be noted: the original does not give then what it gives otherwise.
    """
    # Results of an original may depend on the date: then they are nothing to go by.
    probe = Probe(
        original.main_poison,
        trial.seed,
        record=True,
        expected=original.references[original.main_poison].digests,
        idle=original.idle,
        cut=original.cut,
        wall=int(time.time() + ahead),
    )
    run = _run(trial, "candidate", original, probe)
    try:
        trial.verify(original, run, probe.poison, bounds, [])
    except Failed as failure:
        theirs = _run(trial, "baseline", original, probe)
        try:
            trial.verify(original, theirs, probe.poison, bounds, [], printed=False)
        except Failed:
            return ANOTHER
        known = replace(original, stdouts=(*original.stdouts, theirs.stdout))
        _again(trial, known, run, bounds, (probe, ahead), failure)
    return ""


def _again(
    trial: Trial,
    known: Profile,
    run: Ran,
    bounds: Bounds,
    at: tuple[Probe, float],
    failure: Failed,
) -> None:
    """Compare a run with what its original printed then, too; raise how it `Failed`."""
    probe, ahead = at
    try:
        trial.verify(known, run, probe.poison, bounds, [])
    except Failed:
        raise Failed(failure.status, f"with its clock {_said(ahead)}: {failure.log}") from None


def _run(trial: Trial, which: str, original: Profile, probe: Probe) -> Ran:
    path = Path(str(trial.request[which]["path"]))
    return trial.patiently(path, original, probe, beside=which == "candidate")


def _said(ahead: float) -> str:
    return f"{words(ahead)} on from now" if ahead else "as it is now"
