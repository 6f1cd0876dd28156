"""Where a launch comes to its end that no case has met, as its text tells.

A grid has 65,535 blocks in y. Of a kernel's launch that is known (`runners.launch_limits`), of host
code it is read (`runners.host_launches`), which may be wrong. So no more comes of it than a case
that original and candidate are run on (`runners.distant`); and where that is too much, or further
out than a candidate has to be right, a limit that is said.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from runners import launch_limits, sizes
from runners.families import captured_work
from runners.host_launches import Failure, HostLaunch, launches
from runners.launch_limits import MOST_SIZE, MOST_TIMES, SHARED_BYTES, fails
from runners.sizes import TIMES_LONGER
from runners.spec import JobSpec, Source
from runners.trials import Budget, Values, inputs

# Launches that are asked about; how often one is computed; steps in which a size is doubled.
MOST_CASES, MOST_LOOKS, STEPS = 2, 40_000, 8

Case = Mapping[str, float]
_Test = Callable[[Case], Failure | None]


class Ends:
    """The launches of a job's candidate that fail where no launch of its original does.

    `answered` are cases in which neither did, whatever is read in a text.
    """

    def __init__(self, job: JobSpec, answered: Sequence[Case] = ()) -> None:
        self._job, self._work = job, job.work
        self._inputs = inputs(job.work.arguments, None)
        self._looks = Budget(MOST_LOOKS)
        self._own: list[HostLaunch] = []
        self._theirs: list[HostLaunch] = []
        self._tests: list[_Test] = []
        if job.kernel == job.baseline or captured_work(job.work):
            return
        if self._work.kind == "kernel" and job.kernel.launch != self._work.launch:
            self._tests = [self._known]
        elif self._work.kind == "entry":
            every = [Values(self._inputs, case) for case in answered]
            mine, theirs = map(self._launches, (job.kernel, job.baseline))
            known = {one.key for one in theirs}
            self._own = [one for one in mine if one.key not in known]
            self._theirs = [one for one in theirs if not any(map(one.fails, every))]
            self._tests = [self._read(one) for one in self._own]
        self.learn(answered)

    def learn(self, answered: Sequence[Case]) -> None:
        """Forget what does not fail where it should: it was not read well."""
        self._tests = [one for one in self._tests if not any(map(one, answered))]

    def cases(self) -> list[tuple[dict[str, float], str]]:
        """Return the least case of each launch that fails within what has to be right.

        With a variable that is longer in it. What is sure to fail comes first.
        """
        found: list[tuple[bool, int, dict[str, float], str]] = []
        for test in self._tests:
            tried = [
                (sizes.elements(self._work, case), case, name)
                for name, case in self._near(test)
                if sizes.elements(self._work, case) > 0
            ]
            if tried:
                elements, case, name = min(tried, key=lambda one: one[0])
                failure = test(case)
                found.append((failure is None or not failure.sure, elements, case, name))
        found.sort(key=lambda one: one[:2])
        unlike = [one for at, one in enumerate(found) if one[2] not in [o[2] for o in found[:at]]]
        return [(case, name) for _, _, case, name in unlike[:MOST_CASES]]

    def unread(self, fits: Callable[[Case], bool]) -> list[tuple[dict[str, float], str]]:
        """Return the largest case that fits where nobody knows how high a grid is; or nothing.

        What fails at some size fails there, too.
        """
        ways = ("grid.y", "grid.z")
        own = any(not one.knows(way) for one in self._own for way in ways)
        names = sorted(sizes.sizing(self._work), key=lambda n: -sizes.largest(self._work, n))
        if not (own and names and all(one.knows(way) for one in self._theirs for way in ways)):
            return []
        top = max((dict(case.values) for case in self._work.cases), key=self._elements)
        most = int(TIMES_LONGER * sizes.largest(self._work, names[0])) - 1
        grown = self._together(top, names)
        for turn in range(4 * STEPS):
            case = grown(int(most / 2 ** (turn / STEPS)))
            if fits(case):
                return [(case, names[0])]
        return []

    def limits(self) -> list[str]:
        """Say from which size on host code's launches fail, where all of it was read."""
        if self._work.kind != "entry":
            return []
        found = []
        for name in sizes.changing(self._work):
            largest = int(sizes.largest(self._work, name))
            most = min(MOST_TIMES * largest, MOST_SIZE)
            # What is asked before a launch may hold where the others are as declared alone.
            for others in (*sizes.few_others(self._work, name), *self._declared()):
                firsts = [
                    (int(case[name]), failure.why)
                    for test in map(self._sure, self._tests)
                    for case in self._first(test, others, (name,), most, 1)
                    if (failure := test(case))
                ]
                if firsts:
                    found.append(launch_limits.words(name, *min(firsts), largest))
                    break
        return found

    def _launches(self, source: Source) -> list[HostLaunch]:
        names = [one.name for one in self._work.arguments]
        return list(launches(source.source, self._work.symbol, names))

    def _known(self, case: Case) -> Failure | None:
        """Return why a kernel's launch fails where its original's does not."""
        mine, theirs = self._job.kernel.launch, self._work.launch
        why = fails(mine, case, SHARED_BYTES) if mine is not None and theirs is not None else ""
        if not why or theirs is None or fails(theirs, case, SHARED_BYTES):
            return None
        return Failure(why, "", sure=True)

    def _read(self, mine: HostLaunch) -> _Test:
        def test(case: Case) -> Failure | None:
            values = Values(self._inputs, case)
            failure = mine.fails(values)
            if failure is None:
                return None
            theirs = [found for one in self._theirs if (found := one.fails(values))]
            # What its original may do there is told by running it.
            if any(one.sure for one in theirs):
                return None
            return replace(failure, sure=failure.sure and not theirs)

        return test

    def _sure(self, test: _Test) -> _Test:
        """Return the test that knows no failure but what is sure, and the original's not."""

        def sure(case: Case) -> Failure | None:
            failure = test(case)
            if failure is None or not failure.sure:
                return None
            return failure if all(one.knows(failure.what) for one in self._theirs) else None

        return sure

    def _near(self, test: _Test) -> Iterator[tuple[str, dict[str, float]]]:
        """Yield cases in which a launch fails, with one variable longer, and with all of them."""
        work, by_size = self._work, self._declared()
        for name in sizes.changing(work):
            most = int(TIMES_LONGER * sizes.largest(work, name)) - 1
            for others in (*sizes.few_others(work, name), by_size[0], by_size[-1]):
                for case in self._first(test, others, (name,), most, STEPS):
                    yield name, case
        names = sorted(sizes.sizing(work), key=lambda name: -sizes.largest(work, name))
        few = itertools.combinations(names[: sizes.MOST_LONG], 2)
        for together in (*few, tuple(names)) if len(names) > 1 else ():
            most = int(TIMES_LONGER * sizes.largest(work, together[0])) - 1
            for others in (by_size[0], by_size[-1]):
                for case in self._first(test, others, together, most, STEPS):
                    yield together[0], case

    def _declared(self) -> list[dict[str, float]]:
        """Return the declared cases, the smallest first."""
        return sorted((dict(case.values) for case in self._work.cases), key=self._elements)

    def _elements(self, case: Case) -> int:
        return sizes.elements(self._work, case)

    def _first(
        self, test: _Test, others: Case, names: Sequence[str], most: int, steps: int
    ) -> Iterator[dict[str, float]]:
        """Yield the case that has the least of the first name, and fails; nothing if none does.

        The other names are as many times their largest. A size is doubled in so many steps.
        """
        top, grown = int(sizes.largest(self._work, names[0])), self._together(others, names)

        def failing(size: int) -> bool:
            return self._looks.spend(1) and test(grown(size)) is not None

        low, high, turn = top - 1, top, 0
        while not failing(high):
            if high >= most or self._looks.left <= 0:
                return
            turn += 1
            low, high = high, max(high + 1, min(int(top * 2 ** (turn / steps)), most))
        yield grown(sizes.least_above(low, high, failing))

    def _together(self, others: Case, names: Sequence[str]) -> Callable[[int], dict[str, float]]:
        """Return what makes a case of a size of the first name, the others as many times theirs."""
        top = [int(sizes.largest(self._work, name)) for name in names]

        def grown(size: int) -> dict[str, float]:
            long = {n: float(one * size // top[0]) for n, one in zip(names, top, strict=True)}
            return {**others, **long}

        return grown
