"""Energy of whole programs: original and candidate run again and again, a meter read beside.

A run is the whole process, start-up and copies included, which is what the program takes. The
meter is read in the worker, outside the program's process.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from runners import energy, weighing
from runners.energy import Mark, Meter, Rule
from runners.nvml import Unmeasured
from runners.program_profile import Profile, patience
from runners.program_run import Probe, Runner
from runners.timing import CANDIDATE

# An arm begins with a process, not with a load that has settled.
WEIGH = Rule(0.0, 2.0, 2, 2, 0.0, rests=False)


class ProgramBurning:
    """A program's pair on one set of arguments."""

    in_place = False

    def __init__(
        self, runner: Runner, paths: tuple[Path, Path], original: Profile, seed: int
    ) -> None:
        self._runner, self._paths, self._original = runner, paths, original
        poison = original.main_poison
        self._probe = Probe(poison, seed, idle=original.idle, cut=original.cut)

    def burn(self, which: int, seconds: float, *, second_of_pair: bool) -> Sequence[Mark]:
        """Run one process after the other; return when each had ended."""
        del second_of_pair
        path = self._paths[0 if which == CANDIDATE else 1]
        limit = patience(self._original.seconds)
        marks: list[Mark] = [(time.monotonic(), 0)]
        while marks[-1][0] < marks[0][0] + seconds:
            ran = self._runner.run(path, self._original.arguments, self._probe, limit)
            if ran.exit != self._original.exit or ran.report is None or ran.report.broken:
                raise Unmeasured(f"{self._original.name}: a run failed while energy was read")
            marks.append((time.monotonic(), len(marks)))
        return marks


def read(
    runner: Runner,
    request: Mapping[str, Any],
    originals: Sequence[Profile],
    cases: Sequence[Mapping[str, Any]],
    meter: Meter | None,
) -> dict[str, Any]:
    """Return the energy of a run with each set of arguments, of the longest alone to weigh."""
    job = request["job"]
    if meter is None:
        return weighing.unavailable(weighing.NO_METER)
    paths = (Path(request["candidate"]["path"]), Path(request["baseline"]["path"]))
    seconds = max(energy.LEAST_SECONDS, energy.FULL.seconds / max(1, len(originals)))
    rule = replace(energy.FULL, lead=0.0, seconds=seconds)
    pairs = list(zip(originals, cases, strict=True))
    if job.get("effort") == "weigh":
        rule, pairs = WEIGH, [max(pairs, key=lambda pair: pair[0].seconds)]
    found, readings = [], []
    try:
        for original, times in pairs:
            seed = int(job.get("seed") or 0) + 1
            burning = ProgramBurning(runner, paths, original, seed)
            reading = energy.checked(energy.measure(burning, meter, rule), original.name)
            rule = replace(rule, idles=False)
            readings.append(reading)
            found.append(weighing.case_json(dict(times), reading))
    except Unmeasured as why:
        return weighing.unavailable(str(why))
    return weighing.summary(found, readings, rule)
