"""Contents that a search makes for a candidate: towards the branches that no run of it has taken.

Who plays at most nine moves in a turn, or keeps eight candidates of a row, is right for all that
chance draws, since nine of a kind come once in a billion boards. But that a counter is compared
with eight can be seen, and how far it got: a build of the finalist keeps how near each of its
comparisons came to the other outcome (`runners.nearest`). From small contents of all kinds on,
those that came nearest to an outcome that nothing had are changed a little (`runners.mutations`)
until it comes about, and then a little more: an outcome may come too late to matter. Whatever has
an outcome that nothing had, or came within a step of one, is run original and candidate side by
side (`runners.fuzzing.side_by_side`), and the original asked where they differ.

Of a hundred thousand elements few count. Where no change of some found one, half of an array
becomes one number: as near as before, it was the other half, and so on, as one bisects.

This refuses nothing by itself: an outcome that comes about is only a reason to look. Programs are
not run so: what they are given is a command line.
"""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future

import numpy as np
import numpy.typing as npt

from runners import far_cases, mutations, recipes
from runners.answers import Answers, Build
from runners.checks import Report
from runners.contents import Combination, pool
from runners.fault import Fault
from runners.fuzzing import Fuzzing, side_by_side
from runners.gpu import DeviceError, LaunchError, OutOfMemoryError
from runners.inputs import stream
from runners.nearest import NEVER
from runners.other_values import LONGEST_CHECK
from runners.session import Guiding, Session
from runners.spec import JobSpec, Json, Work

LAYER = "guided contents"
# Seconds of the search, and for an original and a candidate side by side; runs of chance at first.
SECONDS, SECONDS_ORIGINAL, SECONDS_CANDIDATE, FIRST = 6.0, 3.0, 3.0, 60
# One run of so many later on is of chance again; runs without a gain after which an outcome has
# half its turns; changes of one contents at most; how many are kept that are equally near, and one
# of how many more takes the place of one: each has a change more than the one it was made of.
CHANCE_OF, HALF_TURNS, MOST_CHANGES, KEPT, EXCHANGED_OF = 12, 40, 128, 12, 8
# How often a change is beside one that counts, by so many elements at most, or so many rows; how
# many of these are known. Those count by which a gain came, or something was lost.
BESIDE_IT, AWAY, ROWS_OF, COUNTING = 0.6, (1, 2, 20), 3, 24
# Changes that gained nothing before places that count are looked for by halves, where none is known
# and where some are; of so many elements at least; so large a part of all runs at most.
UNPLACED, MISPLACED, FEW_PLACES, PART_OF_RUNS = 12, 120, 8, 0.25
# What came so near is looked at, too; how many are run side by side.
BESIDE, MOST_COMPARED = 1, 240
# Of contents with an outcome that was gone for so many changes are tried that may have it, too.
VARIANTS = 40
PATIENCE = 10.0
# Cases of fewer elements are begun with once in so many times.
SMALL, SMALL_OF = 1 << 11, 8
# One of so many is a case that is far larger, of so many elements at most: words of two numbers run
# over there alone. What takes so long is no way to anywhere.
FAR_OF, FAR_ELEMENTS, SLOW = 3, 1 << 18, 0.25

Load = Callable[[], Session]


class Search:
    """Looks for contents with outcomes of comparisons that no run had."""

    def __init__(
        self, guiding: Guiding, work: Work, seed: int, chance: Iterator[Combination]
    ) -> None:
        self._guiding, self._work, self._chance = guiding, work, chance
        self._rng = stream(seed, LAYER)
        self._seen: npt.NDArray[np.bool_] = np.zeros(0, np.bool_)
        # Of each outcome that is missing: how near a run came to it, which, and turns since then.
        self._nearest: dict[int, int] = {}
        self._holders: dict[int, list[Combination]] = {}
        self._idle: dict[int, int] = {}
        # At which places of an array something was gained or lost of late; how near contents were
        # whose places were looked for, and from how many turns on they are looked for again.
        self._counts: dict[tuple[int, int], deque[int]] = {}
        self._placed: dict[int, tuple[int, int]] = {}
        self._placing = 0
        # What has such an outcome at last, which, and how many changes of it are to be tried.
        self._variants: list[tuple[int, Combination, int]] = []
        self.found: list[Combination] = []
        self.runs, self.came = 0, 0
        # Runs that did not begin, and why the latest did not.
        self.failed, self.error = 0, ""

    def go(self, until: float) -> None:
        """Search for so long; may raise the errors of `runners.gpu`."""
        while time.monotonic() < until and not (self.failed == self.runs >= FIRST):
            if self._variants:
                came, having, left = self._variants.pop()
                if left > 1:
                    self._variants.append((came, having, left - 1))
                self._try(self._changed(having, came), None, came)
                continue
            first = self.runs < FIRST
            if first or int(self._rng.integers(CHANCE_OF)) == 0:
                one = next(self._chance, None)
                if one is not None:
                    self._try(one, None)
                    continue
            goal = self._goal()
            if goal is None:
                return
            if self._unplaced(goal):
                self._place(goal, until)
                continue
            kept = self._holders[goal]
            self._try(self._changed(kept[int(self._rng.integers(len(kept)))], goal), goal)

    def edges(self) -> list[Combination]:
        """Return what came within a step of an outcome that never came about."""
        near = [goal for goal in self._open() if self._nearest[goal] <= BESIDE]
        return [self._holders[goal][0] for goal in near]

    def missing(self) -> int:
        """Return how many outcomes never came about."""
        return len(self._open())

    def _open(self) -> list[int]:
        return [goal for goal in self._holders if not self._seen[goal]]

    def _goal(self) -> int | None:
        """Return an outcome to go for: those with gains of late first; None where none is left."""
        every = self._open()
        if not every:
            return None
        shares = np.array([1.0 / (1.0 + self._idle[goal] / HALF_TURNS) for goal in every])
        return every[int(self._rng.choice(len(every), p=shares / shares.sum()))]

    def _changed(self, one: Combination, goal: int) -> Combination:
        base, changes = begun(one.family)
        if len(changes) >= MOST_CHANGES:
            # Most count for nothing: without some of them it may be as near as with all.
            many = int(self._rng.integers(1, MOST_CHANGES // 4, endpoint=True))
            out = {int(at) for at in self._rng.integers(len(changes), size=many)}
            changes = [change for at, change in enumerate(changes) if at not in out]
        every = mutations.lengths(self._work, one.case)
        array = int(self._rng.integers(len(every)))
        counts = self._counts.get((goal, array))
        if counts and self._rng.random() < BESIDE_IT:
            away = AWAY[int(self._rng.integers(len(AWAY)))]
            by = int(self._rng.integers(-away, away, endpoint=True))
            if int(self._rng.integers(ROWS_OF)) == 0:
                by *= mutations.row(self._work, array, one.case)
            place = max(0, counts[int(self._rng.integers(len(counts)))] + by)
        else:
            place = int(self._rng.integers(max(1, every[array])))
        new = mutations.Change(array, place, int(self._rng.integers(1 << 24)))
        return Combination(one.case, mutations.named(base, [*changes, new]), one.seed)

    def _unplaced(self, goal: int) -> bool:
        """Return whether it is time to look for the places that count for a goal."""
        idle = self._idle[goal]
        if idle < UNPLACED or self._placing > self.runs * PART_OF_RUNS:
            return False
        near, again = self._placed.get(goal, (NEVER, 0))
        if near == self._nearest[goal]:
            return idle >= again
        return idle >= MISPLACED or not any(key[0] == goal for key in self._counts)

    def _place(self, goal: int, until: float) -> None:
        """Look by halves for the places by which contents came near to a goal."""
        near = self._nearest[goal]
        self._placed[goal] = near, 2 * self._idle[goal] + MISPLACED
        self._forget(goal)
        kept = self._holders[goal]
        one = kept[int(self._rng.integers(len(kept)))]
        base, before = begun(one.family)
        if len(before) >= MOST_CHANGES:
            return

        def without(changes: Sequence[mutations.Change]) -> bool:
            """Return whether it is as near without parts, which are one number each."""
            named = mutations.named(base, [*before, *changes])
            self._placing += 1
            reached = self._try(Combination(one.case, named, one.seed), None)
            return reached is not None and int(reached[goal ^ 1]) <= near

        for array, length in enumerate(mutations.lengths(self._work, one.case)):
            low, high, drawn = 0, length, list[mutations.Change]()
            if without([mutations.Change(array, 0, mutations.ANEW + length)]):
                continue
            while high - low > FEW_PLACES:
                if time.monotonic() > until or len(before) + len(drawn) >= MOST_CHANGES:
                    return
                middle = (low + high) // 2
                for at, end, left in ((low, middle, (middle, high)), (middle, high, (low, middle))):
                    new = [*drawn, mutations.Change(array, at, mutations.ANEW + end - at)]
                    if without(new):
                        (low, high), drawn = left, new
                        break
                else:
                    # Parts of both halves count, in the middle as likely as anywhere.
                    low, high = max(low, middle - FEW_PLACES), min(high, middle + FEW_PLACES)
                    break
            if self._nearest[goal] < near or self._seen[goal]:
                # One of those was a gain by chance.
                return
            if high - low < length:
                places = self._counts.setdefault((goal, array), deque(maxlen=COUNTING))
                places += range(low, high)

    def _note(self, goal: int, one: Combination) -> None:
        """Note that the last change of contents counts for a goal; without one they are others."""
        change = last(one)
        if change is not None and not change.anew:
            key = goal, change.array
            self._counts.setdefault(key, deque(maxlen=COUNTING)).append(change.place)
            return
        self._forget(goal)

    def _forget(self, goal: int) -> None:
        for key in [key for key in self._counts if key[0] == goal]:
            del self._counts[key]

    def _try(
        self, one: Combination, goal: int | None, came: int | None = None
    ) -> npt.NDArray[np.uint32] | None:
        """Run it, and return its distances: it is to gain on a goal, or may have what came."""
        self.runs += 1
        begun_at = time.monotonic()
        try:
            reached = self._guiding.run(one, seconds=PATIENCE).reshape(-1)
        except (OutOfMemoryError, LaunchError) as error:
            # A size that it cannot be launched with, or a build that cannot be launched at all.
            self.failed += 1
            self.error = str(error)
            return None
        had = reached != NEVER
        if not len(self._seen):
            self._seen = np.zeros(len(reached), np.bool_)
        new = had & ~self._seen
        if new.any():
            self._seen |= had
            gone_for = [int(at) for at in np.flatnonzero(new) if int(at) in self._holders]
            self.came += len(gone_for)
            self._variants += [(at, one, VARIANTS) for at in gone_for]
        has = came is not None and bool(had[came])
        if (new.any() or has) and len(self.found) < MOST_COMPARED:
            self.found.append(one)
        gained = bool(new[goal]) if goal is not None else False
        if time.monotonic() - begun_at > SLOW:
            return reached
        # What was drawn anew has less to show, and is kept where it gained something alone.
        change = last(one)
        anew = change is not None and change.anew > 0
        # What is near to an outcome is what has the other one.
        for at in np.flatnonzero(had & ~self._seen[np.arange(len(had)) ^ 1]):
            missing, near = int(at) ^ 1, int(reached[at])
            best = self._nearest.get(missing, NEVER)
            kept = self._holders.setdefault(missing, [])
            if near < best:
                self._nearest[missing], self._holders[missing] = near, [one]
                self._idle[missing] = 0
                self._note(missing, one)
                gained |= missing == goal
            elif near == best and len(kept) < KEPT and not anew:
                kept.append(one)
            elif near == best and not anew and int(self._rng.integers(EXCHANGED_OF)) == 0:
                kept[int(self._rng.integers(KEPT))] = one
            self._idle.setdefault(missing, 0)
        if goal is not None and not gained:
            self._idle[goal] += 1
            if int(reached[goal ^ 1]) > self._nearest[goal]:
                self._note(goal, one)
        return reached


def begun(family: str) -> tuple[int, list[mutations.Change]]:
    """Return where contents began, and their changes.

    >>> begun("recipe 12"), begun("guided 12 0:3:4"), begun("declared")
    ((12, []), (12, [Change(array=0, place=3, draw=4)]), (-1, []))
    """
    found = mutations.read(family)
    if found is not None:
        return found
    number = recipes.number(family)
    return (mutations.DECLARED if number is None else number), []


def last(one: Combination) -> mutations.Change | None:
    """Return the last change of contents, if there is any."""
    changes = begun(one.family)[1]
    return changes[-1] if changes else None


class Guided:
    """Has contents searched for a finalist; `watch` compiles it for that (`Building.watched`)."""

    def __init__(self, watch: Build) -> None:
        self._watch = watch
        self._built: Future[Json | None] | None = None

    def begin(self, request: Json, job: JobSpec) -> None:
        """Begin to compile a kernel that is another one than its original."""
        begins = job.work.kind != "program" and job.kernel != job.baseline
        begins = begins and bool(mutations.changed(job.work))
        terms = (job.kernel.source, request["job"])
        self._built = pool().submit(self._watch, *terms) if begins else None

    def check(
        self,
        pair: tuple[Load, Load],
        guide: Callable[[Json], Guiding | None],
        fuzzing: Fuzzing,
        answers: Answers,
        job: JobSpec,
        wanted: Sequence[Combination],
        deadline: float,
        report: Report,
    ) -> tuple[list[str], bool]:
        """Return what is to be noted, and whether the device is lost. Raise `Wrong`.

        `pair` loads the original alone, and the candidate; `guide` what was built here.
        """
        if self._built is None:
            return [], False
        if deadline - time.monotonic() < LONGEST_CHECK:
            return [f"{LAYER} not tried: there is no time left"], False
        try:
            built = self._built.result()
            guiding = guide(built) if built is not None else None
            if guiding is None:
                return [], False
            _, more = fuzzing.ran(answers, job, wanted)
            chance = beginnings(job.work, more, far(job))
            search = Search(guiding, job.work, job.seed, chance)
            search.go(time.monotonic() + SECONDS)
        except (DeviceError, Fault) as error:
            # It has passed without that: what it does to it is not its fault.
            lost = isinstance(error, DeviceError) and not isinstance(error, LaunchError)
            return [f"{LAYER} not tried: {error}"], lost
        if search.runs == search.failed:
            # Without light cases there is nothing to begin with, as nothing was fuzzed.
            return [f"{LAYER} not tried: {search.error}"] if search.failed else [], False
        each = list({one.key: one for one in (*search.edges(), *search.found)}.values())
        seconds = (SECONDS_ORIGINAL, SECONDS_CANDIDATE)
        _, lost = side_by_side(pair, answers, job, each[:MOST_COMPARED], seconds, report, LAYER)
        words = f"{search.runs} runs, {search.came} outcomes found, {search.missing()} not"
        report.add(LAYER, words, passed=True, error=None, bound=None)
        return [], lost


def beginnings(
    work: Work, more: Iterator[Combination], far: Iterator[Combination]
) -> Iterator[Combination]:
    """Yield what a search begins with: recipes, of small cases few, and now and then a `far` one.

    What has to come together has no room in small ones, and a run of more elements takes no longer.
    """
    small = 0
    for number, one in enumerate(more):
        if number % FAR_OF == 0:
            yield from itertools.islice(far, 1)
        if recipes.number(one.family) is None:
            continue
        small += work.elements(one.case) < SMALL
        if work.elements(one.case) >= SMALL or small % SMALL_OF == 0:
            yield one


def far(job: JobSpec) -> Iterator[Combination]:
    """Yield recipes of cases with a size as large as it may be, or two, that are no large ones."""
    work = job.work
    each = far_cases.every(work, job.seed, job.baseline.source)
    light = [case for case in each if work.elements(case) <= FAR_ELEMENTS]
    for turn, case in zip(itertools.count(), itertools.cycle(light)):
        yield Combination(case, f"{recipes.WORD} {recipes.FUZZED + turn}", job.seed + 2)
