"""Runs a program's candidate with other numbers on its command line than the declared ones.

The original is run there first: what it does not do, or not the same each time, is asked of nobody.
Where more of a number is more work for it, the number is a size, and a candidate that is wrong at
up to sixteen times the declared one is refused, as kernels are, one size at a time and all of them
together. Where it is none, a mode or a seed, what was declared is what is promised, and a
difference is a limit that is said, but for ways that the original's text names. So is one beyond
sixteen times, which is looked for where a candidate keeps in few bits what its original has in
more.
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
    narrower,
    program_arguments,
    program_doubt,
    program_growth,
    program_jointly,
    program_modes,
    program_products,
)
from runners.launch_limits import times_words
from runners.program_arguments import TIMES, Line, Place
from runners.program_beyond import SHAKEN_SECONDS, WATCH_SECONDS
from runners.program_compare import Bounds
from runners.program_failing import Failed, check
from runners.program_glimpse import Glimpse, Original, glimpse
from runners.program_growth import LEAST_TIMES, Work
from runners.program_profile import Profile
from runners.program_run import Probe
from runners.program_trial import Trial
from runners.program_variants import Variants

# How the layer and every limit are called, for those that look for them.
LAYER, RIGHT = "other arguments", "right for the declared"
# Lines on which a candidate is compared, and lines that an original is run with.
MOST_LINES, MOST_TRIED = 6, 14
# All of it together, and what has to be left for what looks for races and bad accesses.
MOST_SECONDS, RESERVE = 60.0, WATCH_SECONDS + SHAKEN_SECONDS + 10.0
# What an original may take there: so long at most, and so many times its declared seconds and more.
LONGEST, TIMES_AS_LONG, MORE_SECONDS = 5.0, 4.0, 2.0
# The same where all sizes are large together, which is tried once or twice.
LONGEST_TOGETHER = 6.0
# Device memory that a line may take, as told from smaller ones.
MOST_BYTES = 8 << 30
# What may grow with the square before anything is known of it.
FIRST_BYTES = MOST_BYTES / 2.5**2
# How many times the largest declared number is tried, the most that is likely to end in time.
STEPS, MOST_FAR = (16, 12, 8, 6, 4), 2
# Beyond that a size is tried, up to so many times: as often as what fills the candidate's bits, all
# other sizes small. What it takes is told from these; all of it, and lines and runs more than else.
FARTHEST, FILLED, SMALL = 256, 16, 64
STEPS_THERE, DISTANT_SECONDS, MORE_LINES, MORE_TRIED = (4, 16), 30.0, 2, 12
# Lines and runs for ways that the original's text names, and for sizes that are large together.
WAYS, TRIED_WAYS, TOGETHER, TRIED_TOGETHER = 4, 10, 2, 6
# What is no longer than that is run a second time with such ways.
SHORT = 1.0
# Kept for another candidate of the same worker, if it is no larger.
KEPT_BYTES = 16 << 20
_MOST_SAID = 200


def ask(
    trial: Trial,
    originals: Sequence[Profile],
    variants: Variants,
    terms: tuple[Bounds, MutableMapping[str, Any]],
    done: list[dict[str, Any]],
) -> list[str]:
    """Run both with other arguments; return what to say, and raise `Failed` where it decides.

    `terms` are the bounds of the workload, and what the caller keeps of originals.
    """
    found = program_arguments.places([one.arguments for one in originals], trial.runner.root)
    ends = min(trial.until, trial.deadline) - RESERVE
    if not found or any(one.idle or one.cut for one in originals):
        return []
    if ends < time.monotonic():
        return [f"{LAYER}: there was no time to try any"]
    ends = min(ends, time.monotonic() + MOST_SECONDS)
    asking = _Asking(trial, originals, variants, *terms, done, ends, found)
    return asking.all()


@dataclass(slots=True)
class _Known:
    """What is known of a number: is it a size, and how much work it is at how many times."""

    size: bool | None = None
    more: tuple[Work, float] | None = None
    steep: Work | None = None
    multiple: bool = False


@dataclass(slots=True)
class _Asking:
    """One candidate's run through the lines."""

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
    known: dict[Place, _Known] = field(default_factory=dict[Place, _Known])
    # Of a run, the sizes that are taken together alone.
    fit: dict[int, list[program_jointly.Size]] = field(
        default_factory=dict[int, list[program_jointly.Size]]
    )

    def all(self) -> list[str]:
        """Ask each number larger, sizes far beyond, alone and together, and all sizes smaller."""
        self.known = {place: _Known() for place in self.places}
        for place in self.places:
            self._larger(place)
        with self._more(WAYS, TRIED_WAYS):
            self._ways()
        self._together()
        sizes = [place for place in self.places if self.known[place].size]
        for place in sizes[:MOST_FAR]:
            self._far(place)
        self._below()
        with self._more(TOGETHER, TRIED_TOGETHER):
            self._jointly()
        self._distant(sizes)
        if self.late and self.compared:
            self.notes.append(f"{LAYER}: there was no time to try all that was meant to be")
        return self.notes

    def _larger(self, place: Place) -> None:
        known, numbers = self.known[place], list(place.larger())
        declared = self.originals[place.run]
        if place.power:
            works = self._peek(place, 1)
            if works and program_growth.steep(self._work(place.run), works):
                numbers = [place.more(1)]
                next_ = self._peek(place, 2)
                known.steep = works if next_ and program_growth.steep(works, next_) else None
            elif not works:
                numbers = [number for number in numbers if number % place.largest == 0]
        if not place.size and not place.seed:
            # In the smallest runs, and there it counts (`_ways`).
            named = program_modes.told(self.variants.source, declared.arguments, place.word)
            numbers = [number for number in numbers if number not in named]
        if declared.seconds > LONGEST / 2 or self._work(place.run).peak_bytes > FIRST_BYTES:
            numbers = numbers[-1:]
        while numbers:
            number = numbers.pop(0)
            line = self._line([(place, number)])
            begun = time.monotonic()
            seen = line and self._seen(line)
            if not line or not seen:
                if time.monotonic() - begun > 0.9 * self._most(place.run):
                    numbers = numbers[-1:]
                continue
            times = number / max(place.value, 1)
            grows = program_growth.grows(self._work(place.run), seen.work, times)
            known.size = place.size and (grows or known.steep is not None)
            known.more = seen.work, times
            known.multiple = number == 2 * place.largest
            self._compare(line, seen, size=known.size)
            break

    def _unknown(self, run: int) -> list[Place]:
        """Return the numbers of a run that the original does not take any larger by themselves."""
        mine = [place for place in self.places if place.run == run and place.size]
        return [place for place in mine if self.known[place].size is None]

    def _together(self) -> None:
        """Try twice of all numbers that cannot be changed by themselves, as sides that must fit."""
        for run in dict.fromkeys(place.run for place in self.places):
            both = self._unknown(run)
            changes = [(place, 2 * place.value) for place in both if not place.power]
            line = self._line(changes) if len(changes) > 1 else None
            seen = line and self._seen(line)
            if line and seen:
                size = program_growth.grows(self._work(run), seen.work, 2.0)
                self._compare(line, seen, size=size)
                # All of the work is the first one's, as nobody knows whose it is.
                works = [seen.work, *[self._work(run)] * (len(changes) - 1)]
                self.fit[run] = [
                    program_jointly.Size(place, work, 2.0, multiple=True)
                    for (place, _), work in zip(changes, works, strict=True)
                    if size
                ]

    def _ways(self) -> None:
        """Try what the original's text names for a mode, in the run with the least work.

        In the next one as well, if that is short.
        """
        runs = [one.arguments for one in self.originals]
        order = sorted(range(len(runs)), key=lambda run: self.originals[run].gpu_us)
        sized = frozenset(place.word for place, known in self.known.items() if known.size)
        root = self.trial.runner.root
        declared = program_modes.Declared(self.variants.source, runs, order, root, sized)
        refused: set[tuple[int, str]] = set()
        for rank in range(program_modes.MOST_RUNS):
            for way in program_modes.ways(declared, rank):
                long = rank > 0 and self.originals[way.line.run].seconds > SHORT
                if long or way.said in refused:
                    continue
                seen = self._seen(way.line)
                if seen:
                    self._compare(way.line, seen, size=True)
                else:
                    refused.add(way.said)

    def _jointly(self) -> None:
        """Try all sizes of a run together as far as its original goes, and what passes a word.

        How far is told from them a few times as large.
        """
        for run in dict.fromkeys(place.run for place in self.places):
            words = self.originals[run].arguments
            sizes = [
                program_jointly.Size(
                    place, *known.more, known.multiple, self._end(place) or program_products.MOST
                )
                for place, known in self.known.items()
                if place.run == run and known.size and known.more and known.steep is None
                if known.more[1] > 1.5 * place.largest / max(place.value, 1)
            ]
            source, work = self.variants.source, self._work(run)
            plan = program_jointly.Plan(source, words, (*sizes, *self.fit.get(run, ())), work)
            done: dict[int, int] = {}
            longest = LONGEST_TOGETHER + self.originals[run].seconds
            for near in plan.near(done):
                more = self._ran(near.changes, longest)
                bounds = 0.9 * LONGEST, float(MOST_BYTES)
                for changes in plan.far(near, more, bounds) if more else ():
                    line = self._line(changes)
                    seen = line and self._seen(line, longest)
                    if line and seen:
                        self._compare(line, seen, size=True)
                        done |= {place.word: number for place, number in changes}
                        break

    def _end(self, place: Place) -> int | None:
        """Return what the original's text names as the last number there may be, if it is near."""
        words = self.originals[place.run].arguments
        most = TIMES * place.largest
        return program_modes.end(self.variants.source, words, place.word, place.largest, most)

    def _far(self, place: Place) -> None:
        """Try a size as far as its original goes in time, at most sixteen times the declared."""
        known, less = self.known[place], self._work(place.run)
        if known.more is None:
            return
        bounds = 0.9 * self._most(place.run), float(MOST_BYTES)
        scale = place.largest / max(place.value, 1)
        numbers: list[tuple[int, ...]] = []
        if known.steep is not None:
            numbers = [
                (place.more(by),)
                for by in (4, 3, 2)
                if _within(program_growth.stepped(less, known.steep, by), bounds)
            ]
        elif known.more[1] > scale * 1.5:
            for step in STEPS:
                if _within(program_growth.predicted(less, *known.more, step * scale), bounds):
                    both = place.far(step)
                    numbers.append(both[::-1] if known.multiple else both)
        tries = numbers[:1] + numbers[-1:][: len(numbers) - 1]
        tries[1:1] = self._to_end(place, bounds)
        for each in tries:
            for number in each:
                line = self._line([(place, number)])
                seen = line and self._seen(line)
                if line and seen:
                    self._compare(line, seen, size=True)
                    return

    def _to_end(self, place: Place, bounds: tuple[float, float]) -> list[tuple[int]]:
        """Return the last number there may be as the original's text has it, if it is worth it."""
        known, end = self.known[place], self._end(place)
        if end is None or known.more is None or known.steep is not None:
            return []
        far = end / max(place.value, 1)
        if far <= known.more[1] or known.more[1] < LEAST_TIMES:
            return []
        found = program_growth.predicted(self._work(place.run), *known.more, far)
        return [(end,)] if _within(found, bounds) else []

    def _below(self) -> None:
        """Try all sizes of a run at primes below, else what cannot be larger by itself."""
        runs = dict.fromkeys(place.run for place in self.places)
        for run in runs:
            mine = [place for place in self.places if place.run == run]
            sizes = [place for place in mine if self.known[place].size]
            chosen = sizes or self._unknown(run)
            changes = [(place, number) for place in chosen if (number := place.below())]
            line = self._line(changes) if changes else None
            seen = line and self._seen(line)
            if line and seen:
                times = changes[0][0].value / changes[0][1]
                size = bool(sizes) or program_growth.grows(seen.work, self._work(run), times)
                self._compare(line, seen, size=size)
                return

    def _distant(self, sizes: Sequence[Place]) -> None:
        """Try sizes further out than has to be right, where a candidate's types are narrower."""
        bits = narrower.bits(*self.trial.sources)
        self.ends = min(self.ends, time.monotonic() + DISTANT_SECONDS)
        self.most_lines += MORE_LINES
        self.most_tried += MORE_TRIED
        for place in sizes[:MOST_FAR] if bits else ():
            # What so many times fill; the most bits first, of which nearer sizes tell the least.
            filled = (min(FARTHEST, -(-(FILLED << one) // place.largest)) for one in bits)
            ends = zip(bits, filled, strict=True)
            fit = [(n, one) for one, n in ends if n > TIMES and n * place.largest > 1 << one]
            if fit and self.known[place].steep is None and self.known[place].more is not None:
                self._farthest(place, *fit[0])

    def _farthest(self, place: Place, most: int, bits: int) -> None:
        """Try a size so many times its largest, or half, or a quarter of that, all others small."""
        runs = [one.arguments for one in self.originals]
        others = [one for one in self.places if one.run == place.run and one != place]
        sizes = [one for one in others if self.known[one].size and not one.power]
        declared = [(o, program_arguments.least(runs, o, self.trial.runner.root)) for o in sizes]
        fewer = [(one, min(number, SMALL)) for one, number in declared]
        for small in (fewer, declared) if fewer != declared else (declared,):
            near, far = STEPS_THERE
            less = self._ran([*small, (place, near * place.largest)], LONGEST)
            more = less and self._ran([*small, (place, far * place.largest)], LONGEST)
            if less is None or more is None:
                continue
            for times in (most, most // 2, most // 4):
                found = program_growth.predicted(less, more, far / near, times / near)
                beyond = times > TIMES and times * place.largest > 1 << bits
                if not beyond or not _within(found, (0.9 * LONGEST, float(MOST_BYTES))):
                    continue
                both = place.far(times)
                for number in both[::-1] if self.known[place].multiple else both:
                    line = self._line([*small, (place, number)])
                    seen = line and self._seen(line, LONGEST)
                    if line and seen:
                        self._compare(line, seen, size=True, times=number / place.largest)
                        return
            return

    def _line(self, changes: Sequence[tuple[Place, int]]) -> Line | None:
        return program_arguments.line([one.arguments for one in self.originals], changes)

    def _work(self, run: int) -> Work:
        known = self.originals[run]
        report = known.references[known.main_poison].report
        return program_growth.of(report, known.seconds)

    def _most(self, run: int) -> float:
        """Return how long an original may take with other arguments than those of a run."""
        return min(LONGEST, TIMES_AS_LONG * self.originals[run].seconds + MORE_SECONDS)

    def _original(self, run: int) -> Original:
        program = self.trial.workload.get("program") or {}
        path = Path(self.trial.request["baseline"]["path"])
        must = str(program.get("stdout") or "")
        return Original(self.trial.runner, path, self.originals[run], must, self.trial.seed)

    def _allowed(self, run: int, most: float = 0.0) -> bool:
        """Tell whether another line may be tried; the original is run twice or so, then both.

        Where it is given, the original has so many seconds.
        """
        if self.compared >= self.most_lines or self.tried >= self.most_tried:
            return False
        self.late = self.late or time.monotonic() + 3 * (most or self._most(run)) > self.ends
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

    def _seen(self, line: Line, most: float = 0.0) -> Glimpse | None:
        """Return what the original does with a line; None where nothing is asked there."""
        if not self._allowed(line.run, most):
            return None
        original = self._original(line.run)
        key = f"{LAYER} {original.program} {line.arguments} {original.seed}"
        if key not in self.kept:
            self.tried += 1
            found = glimpse(original, line.arguments, most or self._most(line.run))
            if found is None or not _small(found):
                return found
            self.kept[key] = found
        kept: Glimpse = self.kept[key]
        return kept

    def _compare(self, line: Line, seen: Glimpse, *, size: bool, times: float = 0.0) -> None:
        """Run the candidate with a line and compare it.

        With `times`, further out than it has to be right, what differs is a limit.
        """
        self.compared += 1
        trial, original = self.trial, seen.profile
        poison = "nan" if "nan" in original.references else original.main_poison
        # What adds up more of its own rounding errors may be off by as many more.
        more = min(max(line.times, 1.0), float(TIMES))
        bounds = Bounds(self.bounds.rtol * more, self.bounds.atol * more)
        probe = Probe(poison, trial.seed, record=True, expected=original.references[poison].digests)
        name = " ".join(line.arguments)
        failure, run = program_doubt.failing(trial, original, probe, bounds)
        if failure is None:
            self.done.append(check(LAYER, name, passed=True))
            return
        doubt = program_doubt.Doubt(trial, self._original(line.run), seen, probe, bounds)
        why = doubt.why(failure, run, self.variants)
        if why is None:
            return
        words = _words(failure.log, name)
        if why:
            self.notes.append(f"with {name} it gives other results than its original; {why}")
        elif size and not times:
            self.done.append(check(LAYER, name, passed=False))
            path = (trial.job.get("kernel") or {}).get("path") or "program"
            raise Failed(failure.status, f"./{Path(str(path)).stem} {name}: {words}")
        else:
            declared = " ".join(self.originals[line.run].arguments)
            far = f", {times_words(times)} times the largest declared," if times else ""
            told = f"{RIGHT} arguments {declared}; with {name}{far} it is not: {words}"
            self.notes.append(limit.said(told))


def _within(found: tuple[float, float], bounds: tuple[float, float]) -> bool:
    return found[0] <= bounds[0] and found[1] <= bounds[1]


def _small(found: Glimpse) -> bool:
    held = (one for each in found.profile.references.values() for one in each.held)
    return sum(0 if one is None else one.size for one in held) <= KEPT_BYTES


def _words(log: str, name: str) -> str:
    """Return a failure's words without the arguments that they begin with."""
    return log.removeprefix(name).lstrip(":, ")[:_MOST_SAID]
