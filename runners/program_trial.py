"""One candidate's trial against its original: how programs are run, and what each run must give."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from runners import program_stdout
from runners.program_beside import once_more, waiting
from runners.program_compare import Bounds
from runners.program_failing import Failed, alive, check, guard
from runners.program_profile import Profile, checks, patience
from runners.program_run import Probe, Ran, Runner

# Runs of the original beyond those that are known, before a word is held against a candidate.
MORE_WORDS = 6
ENERGY = ("weigh", "energy")
# Memory of the device that the host reads where it is.
_SEEN = re.compile(r"Managed|HostAlloc|HostRegister|MallocHost|__managed__", re.ASCII)
# So many times as long a program is waited for that did not come to its first launch, and again
# did not: on two H200 whose hosts ran a judge for every other core, one of 0.4 s took over 15 s.
PATIENCE, LAST_PATIENCE = 2.0, 12.0


@dataclass(frozen=True, slots=True)
class Trial:
    """What is asked, and until when: `deadline` and `begun` in monotonic seconds."""

    runner: Runner
    request: Mapping[str, Any]
    job: Mapping[str, Any]
    workload: Mapping[str, Any]
    deadline: float
    begun: float

    @property
    def seed(self) -> int:
        """Return what decides the words in fresh memory, and which of a pair is first."""
        return int(self.job.get("seed") or 0) + 1

    @property
    def sources(self) -> tuple[str, str]:
        """Return the texts of candidate and original."""
        mine, theirs = (self.job.get(one) or {} for one in ("kernel", "baseline"))
        return str(mine.get("source") or ""), str(theirs.get("source") or "")

    @property
    def host(self) -> bool:
        """Tell whether a candidate's host code may change."""
        return bool((self.workload.get("accept") or {}).get("edit_host"))

    @property
    def copies_alone(self) -> bool:
        """Tell whether buffers are a candidate's own, and what its host code copies is the result.

        So they are where host code may change, but for memory that the host reads where it is.
        """
        return self.host and not any(map(_SEEN.search, self.sources))

    @property
    def effort(self) -> str:
        """Return how much the times are worth; energy is read beside a screening."""
        effort = str(self.job.get("effort") or "screen")
        return "screen" if effort in ENERGY else effort

    @property
    def itself(self) -> bool:
        """Tell whether this is a first look at the original, which has just been run four times.

        The last of these stands for the candidate; when there is a winner, it is compared with
        itself in full.
        """
        return self.effort == "screen" and self.unedited

    @property
    def unedited(self) -> bool:
        """Tell whether the original is compared with itself: what it computes is known then."""
        candidate, baseline = self.request["candidate"], self.request["baseline"]
        return bool(candidate["path"] == baseline["path"])

    @property
    def until(self) -> float:
        """Return when, in monotonic seconds, nobody waits for more than results and times."""
        within = float(self.job.get("within") or 0.0)
        return self.begun + within if within else math.inf

    def candidate(self, original: Profile, probe: Probe) -> Ran:
        """Run the candidate as the original was run; what is recorded is compared with its."""
        expected = original.references[probe.poison].digests
        path = Path(self.request["candidate"]["path"])
        known = expected if probe.record else ()
        full = replace(probe, expected=known, idle=original.idle, cut=original.cut)
        return self.patiently(path, original, full, beside=True)

    def patiently(
        self, path: Path, original: Profile, probe: Probe, *, beside: bool = False
    ) -> Ran:
        """Run a program, and again if its time was over before its first launch.

        A busy host may take many seconds to start a process with a GPU in it. What has launched
        and does not end is at fault itself: with `beside`, once its original, run while it is
        waited for, has told how long it may take. So it tells how much longer what came to no
        launch is waited for in the end.
        """
        limit = self.limit(original)
        runner = self.runner
        theirs = Path(self.request["baseline"]["path"])
        if beside:
            most = max(PATIENCE * limit, self.deadline - time.monotonic() - limit)
            runner = waiting(runner, theirs, original, probe, (limit, most))
        run = runner.run(path, original.arguments, probe, limit)
        for times in (PATIENCE, LAST_PATIENCE):
            if run.exit is None and not run.launched:
                left = max(PATIENCE * limit, self.deadline - time.monotonic())
                given = min(times * limit, left)
                if beside and times == LAST_PATIENCE:
                    given = once_more(self.runner, theirs, original, probe, (limit, given))
                run = self.runner.run(path, original.arguments, probe, given)
        return run

    def limit(self, original: Profile) -> float:
        """Return how long a run may take: time that others used up is not the candidate's fault."""
        left = self.deadline - time.monotonic()
        return min(patience(original.seconds), max(left, 3 * original.seconds + 3))

    def verify(
        self,
        original: Profile,
        run: Ran,
        poison: str,
        bounds: Bounds,
        done: list[dict[str, Any]],
        *,
        printed: bool = True,
    ) -> None:
        """Note in `done` what a run did right; raise `Failed` at what it did not."""
        alive(run, original, self.limit(original), host=self.host)
        where = original.name
        own = self.copies_alone
        seen = checks(original, run, poison, bounds, self.runner, copies_alone=own)
        for what, passed, error, why in seen:
            done.append(check("outputs", f"{where}: {what}", passed, error))
            if not passed:
                raise Failed("wrong result", f"{where}, fresh memory {poison}: {why}")
        assert run.report is not None  # noqa: S101 - alive() saw it
        beyond = len(run.report.guards) > original.guards
        done.append(check("guard bands", f"{where}: fresh memory {poison}", not beyond))
        if beyond:
            raise Failed("wrong result", f"{where}: {guard(run.report.guards[0])}")
        if printed:
            other = self.misprinted(original, run)
            done.append(check("stdout", where, not other))
            if other:
                raise Failed("wrong result", f"{where}: {other}")

    def misprinted(self, original: Profile, run: Ran) -> str:
        """Say what a run prints otherwise than its original; empty where it is the same."""
        must = (self.workload.get("program") or {}).get("stdout")
        other = self._otherwise(original, run.stdout)
        return other or (f'does not print "{must}"' if must and must not in run.stdout else "")

    def _otherwise(self, original: Profile, printed: str) -> str:
        """Say what a candidate prints otherwise than the original, which may still change its mind.

        A word that the clock chooses may be the same in each of the few runs that taught about the
        original: it is run some times more before it is held against a candidate.
        """
        known = list(original.stdouts)
        other = program_stdout.difference(known, printed)
        probe = Probe(original.main_poison, self.seed, idle=original.idle, cut=original.cut)
        path = Path(self.request["baseline"]["path"])
        for _ in range(MORE_WORDS):
            if not other or time.monotonic() + 2 * original.seconds > self.deadline:
                break
            run = self.runner.run(path, original.arguments, probe, self.limit(original))
            if run.exit != original.exit or run.report is None or run.report.broken:
                break
            known.append(run.stdout)
            other = program_stdout.difference(known, printed)
        return other
