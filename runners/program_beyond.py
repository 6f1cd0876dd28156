"""What a confirmation looks at behind results and times: device code, sanitizers, delays."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from runners import sanitizer, seeded, static_gate
from runners.program_compare import Bounds
from runners.program_failing import Failed, check
from runners.program_profile import Profile, patience
from runners.program_run import Probe
from runners.program_trial import Trial

DeviceCode = Callable[[str, Any], str | None]
Shake = Callable[[str, Any, int], dict[str, Any] | None]

SHAKEN_SECONDS, SHAKEN_BUILDS = 20.0, 2
UNDER_DELAYS = "with warps delayed at random and shared memory filled before"
# However little is left of a time budget, what looks for races and bad accesses gets so long.
LEAST_BEYOND_SECONDS = 3.0
_BOTH = ("kernel", "baseline")  # as a job names its two sources
WATCH_SECONDS = 30.0
# Behind the shortest run so many others are watched, none of which takes longer by itself, and
# none begun when so much time has gone by.
MORE_RUNS, LONGEST_RUN, MORE_SECONDS = 2, 5.0, 60.0


def begun(trial: Trial, device_code: DeviceCode | None, shake: Shake | None) -> Beyond:
    """Begin to compile what a confirmation looks at behind results and times."""
    sources = [str((trial.job.get(which) or {}).get("source") or "") for which in _BOTH]
    pool = ThreadPoolExecutor(3, thread_name_prefix="beyond")
    codes: list[Future[str | None]] = []
    if device_code is not None and all(sources):
        codes = [pool.submit(device_code, text, trial.job) for text in sources]
    builds = range(SHAKEN_BUILDS if sources[0] and shake is not None else 0)
    shaken = [pool.submit(_built_shaken, trial, shake, "kernel", number) for number in builds]
    pool.shutdown(wait=False)
    return Beyond(trial, shake, tuple(codes), tuple(shaken))


def _built_shaken(
    trial: Trial, shake: Shake | None, which: str, number: int
) -> dict[str, Any] | None:
    """Build a source with delays, one of several ways; None where that cannot be had."""
    if shake is None:
        return None
    seed = (trial.seed * 2 + 1) ^ number << seeded.LATE_BIT  # late first blocks in half of them
    return shake(str(trial.job[which]["source"]), trial.job, seed)


@dataclass(frozen=True, slots=True)
class Beyond:
    """What is compiled while a confirmation takes times: PTX of both sources, delays in one.

    Delays under several seeds, as they cannot be set later.
    """

    trial: Trial
    shake: Shake | None
    codes: tuple[Future[str | None], ...]
    shaken: tuple[Future[dict[str, Any] | None], ...]

    def gate(self, done: list[dict[str, Any]]) -> None:
        """Note what the candidate's device code can do beyond its original's; refuse a clock."""
        if not self.codes:
            return
        mine, theirs = (static_gate.device(code.result() or "") for code in self.codes)
        more = sorted(mine - theirs)
        done += [check("static gate", w, w not in static_gate.REFUSED) for w in more]
        for what in more:
            if what in static_gate.REFUSED:
                raise Failed("rejected", f"its device code {what}; the original's does not")

    def watch_runs(
        self, originals: Sequence[Profile], bounds: Bounds, done: list[dict[str, Any]]
    ) -> list[str]:
        """Watch the shortest run, and others where time is left: they may take other branches."""
        shortest, *others = sorted(originals, key=lambda o: o.seconds)
        notes = self._watch(shortest, bounds, done)
        ends = time.monotonic() + MORE_SECONDS
        for original in others[:MORE_RUNS]:
            now = time.monotonic()
            hurry = (
                min(self.trial.until, self.trial.deadline) - now < WATCH_SECONDS + SHAKEN_SECONDS
            )
            if hurry or now > ends or original.seconds > LONGEST_RUN:
                break
            notes += self._watch(original, bounds, done)
        return notes

    def _watch(self, original: Profile, bounds: Bounds, done: list[dict[str, Any]]) -> list[str]:
        """Look for what results do not show, on one run; return what time was short for.

        compute-sanitizer's tools, side by side; then warps are delayed, or beside them where there
        is no time for both.
        """
        left = max(self.trial.until - time.monotonic(), LEAST_BEYOND_SECONDS)
        program = sanitizer.command()
        tools = sanitizer.TOOLS if program is not None else ()
        hurry = left < WATCH_SECONDS + SHAKEN_SECONDS
        with ThreadPoolExecutor(len(tools) + 1) as pool:
            delayed = pool.submit(self._shaken, original, bounds, left) if hurry else None
            found = [
                pool.submit(self._errors, "candidate", tool, original, min(WATCH_SECONDS, left))
                for tool in tools
            ]
        late = [one.result().tool for one in found if one.result().errors is None]
        for one in (ended.result() for ended in found):
            if one.errors is None:
                continue  # it does not run here, or not in time
            blamed = bool(one.errors) and sanitizer.blames(
                one.tool,
                one.errors,
                self._errors("baseline", one.tool, original, WATCH_SECONDS).errors,
            )
            done.append(check("sanitizer", f"{original.name}: {one.tool}", not blamed))
            if blamed:
                raise Failed("wrong result", f"compute-sanitizer {one.tool}: {one.words}")
        failures = delayed.result() if delayed else self._shaken(original, bounds, left)
        for number, failure in failures.items():
            if not failure.status:
                continue
            built = _built_shaken(self.trial, self.shake, "baseline", number)
            theirs = self._delayed(built, original, bounds, SHAKEN_SECONDS)
            if theirs is not None and not theirs.status:
                done.append(check("delayed warps", original.name, passed=False))
                raise failure
        if not failures:
            late += ["warps delayed at random"] if self.shaken else []
        elif not any(failure.status for failure in failures.values()):
            done.append(check("delayed warps", original.name, passed=True))
        if not late or not hurry:
            return []
        words = f"within the {left:.0f} s left of the time budget nothing was said by: "
        return [words + ", ".join(late)]

    def _errors(
        self, which: str, tool: str, original: Profile, seconds: float
    ) -> sanitizer.Finding:
        """Return what one of compute-sanitizer's tools says of a run."""
        line = sanitizer.prefix(str(sanitizer.command()), tool)
        path = Path(self.trial.request[which]["path"])
        return sanitizer.read(
            tool, self.trial.runner.watched(path, original.arguments, line, seconds)
        )

    def _shaken(self, original: Profile, bounds: Bounds, seconds: float) -> dict[int, Failed]:
        """Run the candidate with its warps delayed at random; what the original survives it must.

        Return how each build fails, by its number; one that does not end in time says nothing, and
        then the next one is not tried.
        """
        found: dict[int, Failed] = {}
        ends = time.monotonic() + seconds
        for number, built in enumerate(self.shaken):
            left = seconds if number == 0 else ends - time.monotonic()
            failure = self._delayed(built.result(), original, bounds, left) if left > 0 else None
            if failure is None:
                break
            found[number] = failure
            if failure.status:
                break
        return found

    def _delayed(
        self, artifact: dict[str, Any] | None, original: Profile, bounds: Bounds, seconds: float
    ) -> Failed | None:
        """Return how a build fails under delays; no status if it does not, None if unknown."""
        if artifact is None:
            return None
        expected = original.references[original.main_poison].digests
        probe = Probe(original.main_poison, self.trial.seed, record=True, expected=expected)
        full = replace(probe, idle=original.idle, cut=original.cut)
        path = Path(str(artifact["path"]))
        limit = min(SHAKEN_SECONDS, 5 * patience(original.seconds), seconds)
        run = self.trial.runner.run(path, original.arguments, full, limit)
        if run.exit is None or run.report is None or run.report.broken:
            return None
        try:
            self.trial.verify(original, run, probe.poison, bounds, [], printed=False)
        except Failed as failure:
            return Failed(failure.status, f"{UNDER_DELAYS}: {failure.log}")
        return Failed("", "")
