"""How a line of other numbers is asked: the original first, then the candidate, within a time.

`runners.program_elsewhere` says which lines.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runners import (
    limit,
    program_arguments,
    program_doubt,
    program_growth,
    program_stdout,
    program_sums,
)
from runners.launch_limits import times_words
from runners.program_arguments import TIMES, Arguments, Line, Place
from runners.program_compare import Bounds
from runners.program_failing import Failed, check
from runners.program_glimpse import Look, Original, glimpse, look
from runners.program_growth import Work
from runners.program_jointly import Changes
from runners.program_profile import Profile
from runners.program_run import Probe
from runners.program_trial import Trial
from runners.program_variants import Variants

# How the layer and every limit are called, for those that look for them.
LAYER, RIGHT = "other arguments", "right for the declared"
# Lines on which a candidate is compared, and lines that an original is run with.
MOST_LINES, MOST_TRIED = 6, 14
# What an original may take there: so long at most, and so many times its declared seconds and more.
LONGEST, TIMES_AS_LONG, MORE_SECONDS = 5.0, 4.0, 2.0
# What of that a busy host may take to start a process.
MOST_START = 10.0
# Kept for another candidate of the same worker, if it is no larger.
KEPT_BYTES = 16 << 20
_MOST_SAID = 200


@dataclass(slots=True)
class Asking:
    """One candidate's run through lines."""

    trial: Trial
    originals: Sequence[Profile]
    variants: Variants
    bounds: Bounds
    kept: MutableMapping[str, Any]
    done: list[dict[str, Any]]
    ends: float
    places: tuple[Place, ...]
    notes: list[str] = field(default_factory=list[str])
    compared: int = 0
    tried: int = 0
    most_lines: int = MOST_LINES
    most_tried: int = MOST_TRIED
    late: bool = False
    # Has what one run of the original does been seen not to be the measure of a right candidate?
    varied: bool = False
    right: set[Arguments] = field(default_factory=set[Arguments])

    def _line(self, changes: Sequence[tuple[Place, int]]) -> Line | None:
        return program_arguments.line([one.arguments for one in self.originals], changes)

    def _work(self, run: int) -> Work:
        known = self.originals[run]
        report = known.references[known.main_poison].report
        return program_growth.of(report, known.seconds)

    def _most(self, run: int) -> float:
        """Return how long an original may take with other arguments than those of a run."""
        longest = LONGEST + self.start
        return min(longest, TIMES_AS_LONG * self.originals[run].seconds + MORE_SECONDS)

    @property
    def start(self) -> float:
        """Return how long it takes about to start a process with a GPU in it, at most `MOST_START`.

        Seconds on a busy host, which are no time of the original's own.
        """
        beside = min(max(one.seconds - one.gpu_us / 1e6, 0.0) for one in self.originals)
        return min(beside, MOST_START)

    def _own(self, run: int) -> float:
        """Return how long the original takes by itself, beyond what each of its runs takes.

        On a busy host that is mostly the start of a process with a GPU in it.
        """
        others = [one.seconds for number, one in enumerate(self.originals) if number != run]
        declared = self.originals[run]
        return max(declared.seconds - min(others, default=0.0), declared.gpu_us / 1e6)

    def _original(self, run: int) -> Original:
        program = self.trial.workload.get("program") or {}
        path = Path(self.trial.request["baseline"]["path"])
        must = str(program.get("stdout") or "")
        return Original(self.trial.runner, path, self.originals[run], must, self.trial.seed)

    def _allowed(self, run: int, most: float = 0.0) -> bool:
        """Tell whether another line may be tried: the original is run once or twice, then both.

        Where it is given, the original has so many seconds.
        """
        if self.compared >= self.most_lines or self.tried >= self.most_tried:
            return False
        runs = 3 if self.varied else 2
        self.late = self.late or time.monotonic() + runs * (most or self._most(run)) > self.ends
        return not self.late

    @contextmanager
    def _more(self, lines: int, tried: int) -> Iterator[None]:
        """Allow so many lines and runs, and what else was allowed behind them."""
        compared, ran = self.compared, self.tried
        kept = self.most_lines, self.most_tried
        self.most_lines, self.most_tried = compared + lines, ran + tried
        yield
        self.most_lines = kept[0] + self.compared - compared
        self.most_tried = kept[1] + self.tried - ran

    def _peek(self, place: Place, by: int) -> Work | None:
        """Run the original once with so many more of a number; return how much work that is."""
        return self._ran([(place, place.more(by))])

    def _ran(self, changes: Sequence[tuple[Place, int]], most: float = 0.0) -> Work | None:
        """Run the original once with other numbers and return how much work that is."""
        line = self._line(changes)
        if line is None or not self._allowed(line.run, most):
            return None
        original, most = self._original(line.run), most or self._most(line.run)
        key = f"{LAYER} work {original.program} {line.arguments} {original.seed}"
        if key not in self.kept:
            self.tried += 1
            run = original.ran(line.arguments, original.declared.main_poison, most)
            if run is None or run.report is None:
                return None
            self.kept[key] = program_growth.of(run.report, run.seconds)
        kept: Work = self.kept[key]
        return kept

    def _seen(self, line: Line, most: float = 0.0) -> Look | None:
        """Return what the original does with a line; None where nothing is asked there."""
        if not self._allowed(line.run, most):
            return None
        original = self._original(line.run)
        key = f"{LAYER} {original.program} {line.arguments} {original.seed}"
        found: Look | None
        if key not in self.kept:
            self.tried += 1
            found = look(original, line.arguments, most or self._most(line.run))
            if found is not None and _small(found):
                self.kept[key] = found
        else:
            found = self.kept[key]
        if found is None or (self.varied and found.glimpse(original) is None):
            return None
        return found

    def _compare(
        self,
        line: Line,
        first: Look,
        *,
        size: bool,
        times: float = 0.0,
        with_it: Changes = (),
    ) -> bool:
        """Run the candidate with a line and compare it; tell whether it was right there.

        With `times`, further out than it has to be right, what differs is a limit. So it is where
        it may be what sizes hang on, `with_it`, that makes the difference by itself.
        """
        self.compared += 1
        if not self.varied and self._as_once(line, first):
            return self._met(line)
        seen = first.glimpse(self._original(line.run))
        if seen is None:
            return False
        trial, original = self.trial, seen.profile
        probe, bounds = self._terms(line, original)
        name = " ".join(line.arguments)
        failure, run = program_doubt.failing(trial, original, probe, bounds)
        if failure is None:
            self.varied = True
            return self._met(line)
        doubt = program_doubt.Doubt(trial, self._original(line.run), seen, probe, bounds)
        why = doubt.why(failure, run, self.variants)
        if why is None:
            return False
        words = _words(failure.log, name)
        if why:
            self.notes.append(f"with {name} it gives other results than its original; {why}")
        elif size and not times and not (with_it and self._by_itself(line.run, with_it)):
            self.done.append(check(LAYER, name, passed=False))
            path = (trial.job.get("kernel") or {}).get("path") or "program"
            raise Failed(failure.status, f"./{Path(str(path)).stem} {name}: {words}")
        else:
            declared = " ".join(self.originals[line.run].arguments)
            far = f", {times_words(times)} times the largest declared," if times else ""
            told = f"{RIGHT} arguments {declared}; with {name}{far} it is not: {words}"
            self.notes.append(limit.said(told))
        return False

    def _met(self, line: Line) -> bool:
        self.done.append(check(LAYER, " ".join(line.arguments), passed=True))
        self.right.add(line.arguments)
        return True

    def _as_once(self, line: Line, first: Look) -> bool:
        """Tell whether a candidate does, and prints, what one run of the original did."""
        known = self._original(line.run)
        original = first.once(known.declared)
        probe, bounds = self._terms(line, original)
        path = Path(str(self.trial.request["candidate"]["path"]))
        run = self.trial.patiently(path, original, probe)
        if known.must not in run.stdout or program_stdout.difference(original.stdouts, run.stdout):
            return False
        try:
            self.trial.verify(original, run, probe.poison, bounds, [], printed=False)
        except Failed:
            return False
        return True

    def _terms(self, line: Line, original: Profile) -> tuple[Probe, Bounds]:
        """Return how a candidate is run with a line, and how far off it may be."""
        poison = "nan" if "nan" in original.references else original.main_poison
        # What adds up more of its own rounding errors may be off by as many more.
        more = min(max(line.times, 1.0), float(TIMES))
        bounds = Bounds(self.bounds.rtol * more, self.bounds.atol * more)
        known = original.references[poison].digests
        return Probe(poison, self.trial.seed, record=True, expected=known), bounds

    def _by_itself(self, run: int, changes: Changes) -> bool:
        """Tell whether numbers that are no sizes may make a difference without larger sizes.

        What was declared of those is what is promised. And with both of them a sum may be larger
        than an original holds that adds up in 32 bits with a sign.
        """
        line = self._line(changes)
        if program_sums.open_sums(self.variants.source) or line is None:
            return True
        most = self._most(run)
        if time.monotonic() + 4 * most > self.trial.deadline:
            return True
        seen = glimpse(self._original(run), line.arguments, most)
        if seen is None:
            return True
        probe, bounds = self._terms(line, seen.profile)
        failure, _ = program_doubt.failing(self.trial, seen.profile, probe, bounds)
        return failure is not None


def _small(found: Look) -> bool:
    return sum(0 if one is None else one.size for one in found.base.held) <= KEPT_BYTES


def _words(log: str, name: str) -> str:
    """Return a failure's words without the arguments that they begin with."""
    return log.removeprefix(name).lstrip(":, ")[:_MOST_SAID]
