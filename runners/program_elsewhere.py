"""Runs a program's candidate with other numbers on its command line than the declared ones.

The original is run there first: what it does not do, or not the same each time, is asked of nobody.
Where more of a number is more work for it, the number is a size, and a candidate that is wrong at
up to sixteen times the declared one is refused, as kernels are, one size at a time and all of them
together. Where it is none, a mode or a seed, what was declared is what is promised, and a
difference is a limit that is said, but for ways that the original's text names, and for numbers
that it takes from a small one on (`runners.program_smallest`). So is one beyond sixteen times,
which is looked for where a candidate keeps in few bits what its original has in more.
"""

from __future__ import annotations

import time
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runners import (
    narrower,
    program_arguments,
    program_growth,
    program_jointly,
    program_modes,
    program_named,
    program_products,
)
from runners.program_arguments import TIMES, Place
from runners.program_asking import LAYER, LONGEST, RIGHT
from runners.program_beyond import SHAKEN_SECONDS, WATCH_SECONDS
from runners.program_companions import Known, Numbers, beside
from runners.program_compare import Bounds
from runners.program_glimpse import varies
from runners.program_growth import LEAST_TIMES, Work
from runners.program_jointly import Changes, Size
from runners.program_profile import Profile
from runners.program_smallest import promised
from runners.program_tiny import Tiny
from runners.program_trial import Trial
from runners.program_variants import Variants

__all__ = ["LAYER", "RIGHT", "ask"]

# All of it together, and what has to be left for what looks for races and bad accesses.
MOST_SECONDS, RESERVE = 60.0, WATCH_SECONDS + SHAKEN_SECONDS + 10.0
# So many starts of processes more, where these take long.
MORE_STARTS = 12
# What an original may take where all sizes are large together, which is tried once or twice.
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
# The same for numbers behind those that a candidate's text alone names; of one size so many, and
# what little is known of tells how long so many times as large may take.
NAMED, TRIED_NAMED, MOST_NAMED, NEAR = 2, 8, 2, 4
# Numbers that no size is larger than grow so many times beside one that is two and a half times.
TIED = 3


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
    asking = _Asking(trial, originals, variants, *terms, done, ends, found)
    # On a busy host as many runs take longer.
    asking.ends = min(ends, time.monotonic() + MOST_SECONDS + MORE_STARTS * asking.start)
    return asking.all()


@dataclass(slots=True)
class _Asking(Tiny):
    """One candidate's run through the lines."""

    known: dict[Place, Known] = field(default_factory=dict[Place, Known])
    # Of a run, the sizes that are taken together alone.
    fit: dict[int, list[Size]] = field(default_factory=dict[int, list[Size]])
    # Runs that end too late with larger numbers, and what was right together with what beside.
    slow: set[int] = field(default_factory=set[int])
    joined: set[tuple[tuple[Place, ...], Changes]] = field(
        default_factory=set[tuple[tuple[Place, ...], Changes]]
    )

    def all(self) -> list[str]:
        """Ask the smallest, each number larger, sizes far beyond, alone and together, and primes.

        What a candidate's own text tells of is asked first behind the larger ones.
        """
        self.known = {place: Known() for place in self.places}
        own = self.trial.copies_alone
        self.varied = any(varies(one, copies_alone=own) for one in self.originals)
        begun = time.monotonic()
        self._smallest()
        self._tiny()
        # The larger ones have as long as they had without these.
        longer = self.ends + time.monotonic() - begun
        self.ends = min(longer, min(self.trial.until, self.trial.deadline) - RESERVE)
        for place in self.places:
            self._larger(place)
        self._tied()
        with self._more(NAMED, TRIED_NAMED):
            self._named()
        if program_named.words(*self.trial.sources):
            with self._more(TOGETHER, TRIED_TOGETHER):
                self._jointly(spared=True)
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
        long = place.run in self.slow or self._own(place.run) > LONGEST / 2
        if long or self._work(place.run).peak_bytes > FIRST_BYTES:
            numbers = numbers[-1:]
        while numbers:
            number = numbers.pop(0)
            line = self._line([(place, number)])
            begun = time.monotonic()
            seen = line and self._seen(line)
            if not line or not seen:
                if time.monotonic() - begun > 0.9 * self._most(place.run):
                    numbers = numbers[-1:]
                    self.slow.add(place.run)
                continue
            size = self._learned(place, number, seen.work)
            size = size or promised(self.variants.source, declared.arguments, place)
            if self._compare(line, seen, size=size) or not seen.useless:
                break

    def _learned(self, place: Place, number: int, work: Work) -> bool:
        """Note what an original does with a larger number; tell whether it is a size."""
        known, less = self.known[place], self._work(place.run)
        times = number / max(place.value, 1)
        known.size = place.size and (
            program_growth.grows(less, work, times) or known.steep is not None
        )
        known.more = work, times
        known.multiple = number == 2 * place.largest
        known.repeats = known.size and program_growth.repeats(less, work, times)
        return known.size

    def _tied(self) -> None:
        """Try sizes that the original takes no larger by themselves beside what they hang on."""
        for place in self.places:
            with_it = self._numbers.companions(place.run)
            if place.run in self.slow or place.power or not with_it:
                continue
            for number in place.larger()[:2] if place in self._unknown(place.run) else ():
                changes = (place, number), *beside(with_it, TIED)
                line = self._line(changes) if self._numbers.defined(changes) else None
                seen = line and self._seen(line)
                if line and seen:
                    self.known[place].tied = True
                    size = self._learned(place, number, seen.work)
                    self._compare(line, seen, size=size, with_it=line.changed[1:])
                    break

    def _named(self) -> None:
        """Try sizes behind the numbers that a candidate's text has and its original's has not.

        What repeats the work is as little as in any declared run.
        """
        for place, known in self.known.items():
            if not known.size or known.more is None or known.steep is not None:
                continue
            least = round(known.more[1] * max(place.value, 1))
            most = min(TIMES * place.largest, self._numbers.end(place) or program_products.MOST)
            numbers = program_named.beyond(*self.trial.sources, least, most)
            few = self._numbers.spared(place.run, place)
            soon = [one for one in numbers if self._soon(place, one)]
            for number in soon[:MOST_NAMED]:
                if self._taken(place, number, few):
                    break

    def _soon(self, place: Place, number: int) -> bool:
        """Tell whether the original is likely to end soon with a number, by a smaller one."""
        known = self.known[place]
        if known.more is None or known.more[1] < LEAST_TIMES:
            return number <= NEAR * place.largest
        far = number / max(place.value, 1)
        found = program_growth.predicted(self._work(place.run), *known.more, far)
        return _within(found, (0.9 * self._most(place.run), float(MOST_BYTES)))

    def _taken(self, place: Place, number: int, few: Changes = ()) -> bool:
        """Compare with a size so large, and beside what it hangs on where it is not taken alone.

        Tell whether the original takes it.
        """
        with_it = beside(self._numbers.companions(place.run), -(-number // place.largest))
        for more in ((), with_it) if with_it else ((),):
            if not more and self.known[place].tied:
                continue
            changes = (place, number), *few, *more
            line = self._line(changes) if not more or self._numbers.defined(changes) else None
            begun = time.monotonic()
            seen = line and self._seen(line)
            if line and seen:
                self._compare(line, seen, size=True, with_it=more)
                return True
            if time.monotonic() - begun > 0.9 * self._most(place.run):
                break  # it was no refusal
        return False

    @property
    def _numbers(self) -> Numbers:
        runs = [one.arguments for one in self.originals]
        return Numbers(self.variants.source, runs, self.trial.runner.root, self.known)

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

    def _jointly(self, *, spared: bool = False) -> None:
        """Try all sizes of a run together as far as its original goes, and what passes a word.

        How far is told from them a few times as large. With them what they may hang on; where that
        decides nothing, without. With `spared` what repeats the work is as little as it may be.
        """
        for run in dict.fromkeys(place.run for place in self.places):
            few = self._numbers.spared(run) if spared else ()
            least = {place for place, _ in few}
            sizes = [*self._numbers.sizes(run), *self.fit.get(run, ())]
            sizes = [one for one in sizes if one.place not in least]
            with_it = self._numbers.companions(run)
            for more in (with_it, []) if with_it else ([],):
                if sizes and self._as_far(run, (*sizes, *more), few):
                    break

    def _as_far(self, run: int, sizes: tuple[Size, ...], few: Changes) -> bool:
        """Try numbers of a run as far together as its original goes; tell whether it decided."""
        key = tuple(one.place for one in sizes), few
        most = ((one.place, one.number(TIMES, near=False)) for one in sizes)
        line = self._line([*most, *few])
        if key in self.joined or (line and line.arguments in self.right):
            return True
        words, done = self.originals[run].arguments, dict[int, int]()
        plan = program_jointly.Plan(self.variants.source, words, sizes, self._work(run), few)
        longest = LONGEST_TOGETHER + self.originals[run].seconds
        decided: list[bool] = []
        for near in plan.near(done):
            more = self._ran(near.changes, longest)
            bounds = 0.9 * LONGEST, float(MOST_BYTES)
            for changes in plan.far(near, more, bounds) if more else ():
                line = self._line(changes)
                seen = line and self._seen(line, longest)
                if line and seen:
                    none = tuple(one for one in changes if self.known[one[0]].size is False)
                    decided.append(self._compare(line, seen, size=True, with_it=none))
                    done |= {place.word: number for place, number in changes}
                    break
        if decided and all(decided):
            self.joined.add(key)
            return True
        return False

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
            if known.size and (
                not numbers or place.far(TIMES) not in (numbers[0], numbers[0][::-1])
            ):
                found = program_growth.predicted(less, *known.more, TIMES * scale)
                self.notes.append(_too_long(place, found, bounds))
        tries = numbers[:1] + numbers[-1:][: len(numbers) - 1]
        tries[1:1] = self._to_end(place, bounds)
        for each in tries:
            for number in each:
                begun = time.monotonic()
                if self._taken(place, number):
                    return
                if time.monotonic() - begun > 0.9 * self._most(place.run):
                    break  # so it is with a number beside it

    def _to_end(self, place: Place, bounds: tuple[float, float]) -> list[tuple[int]]:
        """Return the last number there may be as the original's text has it, if it is worth it."""
        known, end = self.known[place], self._numbers.end(place)
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


def _too_long(place: Place, found: tuple[float, float], bounds: tuple[float, float]) -> str:
    """Say that a size was not tried as large as is promised, since its original has no end there.

    >>> place = Place(0, 1, 1000, 1000)
    >>> _too_long(place, (30.2, 1e6), (5.0, 1e9))
    'other arguments: not tried with 16000 for 1000: the original would take 30 s'
    >>> _too_long(place, (3.0, 12e9), (5.0, 8e9))
    'other arguments: not tried with 16000 for 1000: the original would take 12.0 GB'
    """
    what = f"{found[0]:.0f} s" if found[0] > bounds[0] else f"{found[1] / 1e9:.1f} GB"
    number = TIMES * place.largest
    return f"{LAYER}: not tried with {number} for {place.largest}: the original would take {what}"


def _within(found: tuple[float, float], bounds: tuple[float, float]) -> bool:
    return found[0] <= bounds[0] and found[1] <= bounds[1]
