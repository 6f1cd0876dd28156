"""Cases on the side of a candidate's own conditions on which no case is that is asked anyway.

`rows > 64 * cols` chooses another way, and so do `n * stride > 1 << 20`, `(n + k) % 7 == 3` and
`rows == cols`: no number tells such a case, and neither does a product of sizes. So conditions that
are made of sizes and scalars are computed for each case that is asked; where all are on one side a
case on the other one is looked for: near a declared one with one variable changed, then with two,
then with all drawn by themselves. What the original asks as well comes last.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from runners import sizes
from runners.conditions import Condition, conditions
from runners.families import captured_work
from runners.inputs import stream
from runners.launch_limits import SHARED_BYTES, fails
from runners.products import LIGHT, MOST_OTHER, MOST_TOGETHER, most_elements
from runners.sizes import TIMES_LONGER
from runners.spec import JobSpec
from runners.trials import Budget, Case, Trials, Values, apart, dependencies, inputs

# Cases of a candidate; sides of conditions that are looked for; how often conditions are computed,
# and for one side by each way to look for it.
MOST_CASES, MOST_WANTED, MOST_LOOKS, MOST_EACH = 4, 12, 12_000, 1_500
# What one costs where a value is not that of a variable itself.
DEAR = 10
# Declared cases that are changed, values of a variable that sizes nothing, and variables.
MOST_BASES, MOST_POOL, MOST_VARIABLES = 3, 6, 4
# Cases that hold and are looked at closely.
MOST_LOOKED_AT = 12


def unmet(job: JobSpec, asked: Sequence[Case]) -> list[dict[str, float]]:
    """Return cases in which a condition of a candidate is what it is in none that is asked.

    Never raises for what a text or a launch says; a few cases at most, within `MOST_TOGETHER`.
    """
    if captured_work(job.work) or job.kernel == job.baseline or not sizes.changing(job.work):
        return []
    search = _Search(job, asked)
    search.take_all()
    return search.found


class _Search:
    """The cases that are known of one job, and the conditions that they do not meet."""

    def __init__(self, job: JobSpec, asked: Sequence[Case]) -> None:
        self.job, self.work = job, job.work
        self.found: list[dict[str, float]] = []
        launch = job.kernel.launch or self.work.launch
        self._launch = launch if self.work.kind == "kernel" else None
        self._inputs = inputs(self.work.arguments, self._launch)
        self._known = [dict(case) for case in asked]
        self._values = [Values(self._inputs, case) for case in self._known]
        self._declared = [dict(case.values) for case in self.work.cases]
        self._movable = {
            name: TIMES_LONGER * int(sizes.largest(self.work, name))
            for name in sizes.changing(self.work)
        }
        self._long = [
            name
            for name in self._movable
            if min(case.get(name, 0.0) for case in self._declared) > sizes.SMALL
        ]
        self._most = most_elements(self.work)
        self._elements = 0
        self._budget = Budget(MOST_LOOKS)

    def take_all(self) -> None:
        """Take a case for each side of a condition that is not met, of its own ones first."""
        work = self.work
        arguments = ["" if one.type.pointer else one.name for one in work.arguments]
        source = self.job.baseline.source
        theirs = {one.key for one in conditions(source, work.symbol, arguments)}
        every = [
            (one, used)
            for one in conditions(self.job.kernel.source, work.symbol, arguments)
            if not self._movable.keys().isdisjoint(
                used := dependencies(one.uses, work.arguments, self._launch)
            )
        ]
        own = [pair for pair in every if pair[0].key not in theirs]
        wanted = 0
        for some, solid in ((own, False), (own, True), (every, False)):
            for one, used in some:
                for truth in self._missing(one, used, solid=solid):
                    if len(self.found) == MOST_CASES or wanted == MOST_WANTED:
                        return
                    wanted += 1
                    taken = self._take(one, truth, used, solid=solid)
                    if taken and len(self.found) == 1:
                        self._twin(one, truth, used)

    def _missing(self, one: Condition, variables: Sequence[str], *, solid: bool) -> list[bool]:
        """Return the sides of a condition on which no case is; both where it is never asked.

        `solid`: none but such as have a side of a few elements.
        """
        seen: set[bool | None] = set()
        for case, values in zip(self._known, self._values, strict=True):
            if not solid or self._solid(case, variables):
                seen.add(one.holds(values))
                if {True, False} <= seen:
                    return []
        return [truth for truth in (True, False) if truth not in seen]

    def _solid(self, case: Case, variables: Sequence[str]) -> bool:
        """Tell whether no side is of a few elements that is never declared so."""
        least = (case.get(name, 0.0) for name in variables if name in self._long)
        return min(least, default=0.0) > sizes.SMALL

    def _take(self, one: Condition, truth: bool, variables: Sequence[str], *, solid: bool) -> bool:
        """Take the case that is nearest to a declared one, by a change or two, or by any."""
        trials = self._trials(one, variables)
        most, rng = MOST_EACH // trials.cost, stream(self.job.seed, "relations")
        alone, pairs, drawn = (
            itertools.islice(tried, most)
            for tried in (trials.alone(), trials.pairs(), trials.drawn(rng))
        )
        for batch in (itertools.chain(alone, pairs), drawn):
            hits: list[tuple[float, int, dict[str, float]]] = []
            for base, case in batch:
                if not self._budget.spend(trials.cost):
                    break
                if solid and not self._solid(case, variables):
                    continue
                if one.holds(Values(self._inputs, case)) == truth:
                    hits.append((apart(base, case, trials.moved), len(hits), case))
            near = sorted(hits)[:MOST_LOOKED_AT]
            for _, _, case in sorted((far + self._weight(c), n, c) for far, n, c in near):
                if self._fits(case):
                    self._add(case)
                    return True
        return False

    def _trials(self, one: Condition, variables: Sequence[str]) -> Trials:
        moved = [name for name in variables if name in self._movable][:MOST_VARIABLES]
        bases = list(self._bases(variables, moved))
        # A value that is an expression's takes longer.
        plain = [(a.value or "") in self._declared[0] for a in self.work.arguments]
        cost = 1 if all(at < len(plain) and plain[at] for at in one.uses) else DEAR
        return Trials(one, self._inputs, self._movable, moved, bases, cost, self._budget)

    def _weight(self, case: Case) -> float:
        """Return how far away a case may as well be as be so large."""
        return math.log2(max(1.0, sizes.elements(self.work, case) / LIGHT)) / 4

    def _add(self, case: dict[str, float]) -> None:
        self.found.append(case)
        self._known.append(case)
        self._values.append(Values(self._inputs, case))
        self._elements += sizes.elements(self.work, case)

    def _twin(self, one: Condition, truth: bool, variables: Sequence[str]) -> None:
        """Take another case near the last one, with odd sizes or, where they are, whole words."""
        for case in self._trials(one, variables).twins(self.found[-1]):
            if not self._budget.spend(1):
                return
            holds = one.holds(Values(self._inputs, case)) == truth
            if holds and sizes.elements(self.work, case) <= MOST_OTHER and self._fits(case):
                self._add(case)
                return

    def _bases(self, variables: Sequence[str], moved: Sequence[str]) -> Iterator[dict[str, float]]:
        """Yield declared cases, the lightest first, with each value of what sizes nothing."""
        ordered = sorted(self._declared, key=lambda case: sizes.elements(self.work, case))
        few = [*ordered[:1], *ordered[-1:], *ordered[1:-1]][:MOST_BASES]
        yield from few
        for name in variables:
            if name in moved:
                continue
            values = sorted({case[name] for case in self._known if name in case})[:MOST_POOL]
            for base, value in itertools.product(few, values):
                if name in base and base[name] != value:
                    yield {**base, name: value}

    def _fits(self, case: dict[str, float]) -> bool:
        """Tell whether a case is new, as large as it may be, and not where a launch fails."""
        work = self.work
        weight = sizes.elements(work, case)
        if case in self._known or not 0 < weight <= self._most or min(case.values()) < 0:
            return False
        if self.found and self._elements + weight > MOST_TOGETHER:
            return False
        sides = (case[name] <= most for name, most in self._movable.items() if name in case)
        if not all(sides) or any(
            sizes.buffer(one, case) <= 0 for one in work.arguments if one.type.pointer
        ):
            return False
        launches = (work.launch, self.job.kernel.launch)
        return not any(one is not None and fails(one, case, SHARED_BYTES) for one in launches)
