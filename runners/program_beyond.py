"""What a confirmation looks at behind results and times: device code, sanitizers, delays."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from runners import sanitizer, seeded, static_gate, unchecked
from runners.program_compare import Bounds
from runners.program_failing import Failed, check
from runners.program_profile import Profile, patience
from runners.program_run import Probe
from runners.program_trial import Trial
from runners.sanitizer import LATE, UNABLE, Finding
from runners.second_look import (
    AGAIN,
    Asked,
    Lent,
    SecondLook,
    Watch,
    told,
    unasked,
    undecided,
)

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


def begun(
    trial: Trial,
    device_code: DeviceCode | None,
    shake: Shake | None,
    more: Callable[[float], None] = lambda _seconds: None,
) -> Beyond:
    """Begin to compile what a confirmation looks at behind results and times.

    `more` moves the deadline of whoever waits: what is asked a second time takes its own.
    """
    sources = [str((trial.job.get(which) or {}).get("source") or "") for which in _BOTH]
    pool = ThreadPoolExecutor(3, thread_name_prefix="beyond")
    codes: list[Future[str | None]] = []
    if device_code is not None and all(sources):
        codes = [pool.submit(device_code, text, trial.job) for text in sources]
    builds = range(SHAKEN_BUILDS if sources[0] and shake is not None else 0)
    shaken = [pool.submit(_built_shaken, trial, shake, "kernel", number) for number in builds]
    pool.shutdown(wait=False)
    return Beyond(trial, shake, tuple(codes), tuple(shaken), Lent(more))


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
    lent: Lent

    def gate(self, done: list[dict[str, Any]]) -> list[str]:
        """Note what the candidate can do beyond its original; refuse a clock, and files.

        Return the note on what was not looked for, where the device code of one side is not known.
        """
        self._files(done)
        if not self.codes:
            return []
        codes = [code.result() for code in self.codes]
        if None in codes:
            return [unchecked.UNREAD]
        mine, theirs = (static_gate.device(code or "") for code in codes)
        more = sorted(mine - theirs)
        done += [check("static gate", w, w not in static_gate.REFUSED) for w in more]
        for what in more:
            if what in static_gate.REFUSED:
                raise Failed("rejected", f"its device code {what}; the original's does not")
        return []

    def _files(self, done: list[dict[str, Any]]) -> None:
        """Refuse host code that opens files where its original's does not, or has names of ours.

        Each run has a folder of its own: what a run finds there of the run before shows in none.
        """
        paths = [Path(str(self.trial.request[one]["path"])) for one in ("candidate", "baseline")]
        mine, theirs = (
            static_gate.host(p.read_bytes()) if p.is_file() else frozenset() for p in paths
        )
        for what in sorted((mine - theirs) & static_gate.REFUSED_OF_PROGRAMS):
            done.append(check("static gate", what, passed=False))
            raise Failed("rejected", f"its {what}; the original's does not")

    def watch_runs(
        self, originals: Sequence[Profile], bounds: Bounds, done: list[dict[str, Any]]
    ) -> list[str]:
        """Watch the shortest run, and others where time is left: they may take other branches."""
        shortest, *others = sorted(originals, key=lambda o: o.seconds)
        notes = [*unasked(originals), *self._watch(shortest, bounds, done)]
        ends = time.monotonic() + MORE_SECONDS
        borrowed = self.lent.spent
        for original in others[:MORE_RUNS]:
            # What was asked a second time has come out of nothing else's time.
            now = time.monotonic() - (self.lent.spent - borrowed)
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
        first = [one.result() for one in found]
        late = [one.tool for one in first if one.errors is None] if hurry else []
        unsaid: list[Asked] = []
        for one in first:
            if one.errors is not None:
                unsaid += self._held(one, original, done)
        look = SecondLook(self._watched(original), [original], WATCH_SECONDS, self.lent)
        for one in (one for one in first if one.errors is None):
            again = self._again(one, original, look, hurry=hurry)
            unsaid.append(again)
            if again.refused:
                done.append(check("sanitizer", f"{original.name}: {one.tool}", passed=False))
                words = f"compute-sanitizer {one.tool} {again.refused}"
                raise Failed("timed out", f"{original.name}: {words}")
            if again.finding.errors is not None:
                unsaid += self._held(again.finding, original, done)
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
        notes = [f"{one} ({original.name})" for one in told(unsaid)]
        if self.shaken and not failures and not hurry:
            notes.append(f"{unchecked.UNDELAYED} ({original.name})")
        if late and hurry:
            words = f"within the {left:.0f} s left of the time budget nothing was said by: "
            notes.append(words + ", ".join(late))
        return notes

    def _held(self, found: Finding, original: Profile, done: list[dict[str, Any]]) -> list[Asked]:
        """Note what a tool found in a run; raise `Failed` where the original has nothing alike.

        Return what cannot be decided, since the tool says nothing of the original.
        """
        unsaid: list[Asked] = []
        blamed = False
        if found.errors:
            theirs = self._errors("baseline", found.tool, original, WATCH_SECONDS)
            if theirs.why == LATE:
                with self.lent.of(AGAIN * WATCH_SECONDS) as seconds:
                    terms = ("baseline", found.tool, original, seconds)
                    theirs = self._errors(*terms, alone=True)
            blamed = sanitizer.blames(found.tool, found.errors, theirs.errors)
            if not blamed and theirs.errors is None:
                unsaid.append(undecided(found, theirs))
        done.append(check("sanitizer", f"{original.name}: {found.tool}", not blamed))
        if blamed:
            raise Failed("wrong result", f"compute-sanitizer {found.tool}: {found.words}")
        return unsaid

    def _again(
        self, first: Finding, original: Profile, look: SecondLook[Profile], *, hurry: bool
    ) -> Asked:
        """Ask a tool again, but what nobody has time for, and what only ends where it is cut."""
        if first.why == UNABLE:
            return look.ask(first)
        if hurry:
            return Asked(first)
        if first.why == LATE and (original.idle or original.cut):
            return Asked(first, f"{LATE}, {WATCH_SECONDS:.0f} s: nor does the program")
        return look.ask(first)

    def _watched(self, original: Profile) -> Watch[Profile]:
        """Return what watches the run by itself."""

        def watch(theirs: bool, tool: str, _run: Sequence[Profile], seconds: float) -> Finding:
            which = "baseline" if theirs else "candidate"
            return self._errors(which, tool, original, seconds, alone=True)

        return watch

    def _errors(
        self, which: str, tool: str, original: Profile, seconds: float, *, alone: bool = False
    ) -> Finding:
        """Return what one of compute-sanitizer's tools says of a run."""
        patience = seconds if alone else 0.0
        line = sanitizer.prefix(str(sanitizer.command()), tool, patience)
        path = Path(self.trial.request[which]["path"])
        begun = time.monotonic()
        done = self.trial.runner.watched(path, original.arguments, line, seconds)
        text = (done.stdout + done.stderr).decode(errors="replace")
        # The tool ends as the program does: one that failed under it was not seen to its end.
        ended = int(original.exit != 0 or done.exit == 0)
        took = time.monotonic() - begun
        return sanitizer.read(tool, text, took, late=done.exit is None, ran=(ended, 1))

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
