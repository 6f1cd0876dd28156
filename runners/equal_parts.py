"""Cases in which two blocks that share an output have as much work as each other.

A block that takes a million elements is alone where there are no more. Two of them add to the same
places, and what a plain addition loses is lost only where both come to it at a time: not where the
second has half as much to do. So sizes are asked for at which there are two parts, and four where
that is not much, and the last of them is full: as a launch or a text takes sizes apart. Such cases
are run as often as what is declared, and delayed however large they are. Delays alone would not do:
where a block goes round a thousand times they pull it further from another one than an update
takes, so that of few blocks hardly any two meet.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from runners import sizes
from runners.contents import Combination
from runners.divided import Gate, gated, launched
from runners.expressions import ExpressionError, count, variables_of
from runners.families import captured_work
from runners.full_grids import FAMILIES
from runners.launch_limits import SHARED_BYTES, fails
from runners.products import FARTHEST, MOST_OTHER, MOST_TOGETHER, PER_DOUBLING, most_elements
from runners.sizes import TIMES_LONGER
from runners.spec import JobSpec
from runners.terms import Division, Number
from runners.trials import Input, Values, dependencies, inputs

# Cases of a candidate that are asked for, and those that are run more often.
MOST_CASES, MOST_REPEATED = 2, 2
# What is taken apart by less is whole vectors and warps, of which there are many; how many ways
# there are of one text, and variables of one.
LEAST_PART, MOST_WAYS, MOST_NAMES = 64, 24, 3
# So many parts are asked for. Blocks that differ by so small a share of a side end together.
TWO, FOUR, SHORT = 2, 4, 1 / 64

Case = Mapping[str, float]


@dataclass(frozen=True, eq=False)
class _Way:
    """How many parts there are in a case, the last of them counted however short it is."""

    names: tuple[str, ...]
    of: Callable[[Case], int]

    def equal(self, case: Case) -> bool:
        """Tell whether there are several parts, and the first two are about as long."""
        parts = self.of(case)
        if parts != TWO or any(case.get(name, 0.0) < 1 for name in self.names):
            return parts > TWO
        longest = max(self.names, key=lambda name: case[name])
        more = float(math.ceil(case[longest] * (1 + SHORT)))
        return self.of({**case, longest: more}) > TWO


def cases(job: JobSpec, asked: Sequence[Case]) -> list[dict[str, float]]:
    """Return cases in which parts are equal of which no case that is asked has two.

    Never raises for what a text or a launch says; a few at most, within `MOST_TOGETHER`.
    """
    work, found = job.work, list[dict[str, float]]()
    if captured_work(work) or job.kernel == job.baseline or not sizes.sizing(work):
        return []
    known = [*(one.values for one in work.cases), *asked]
    ways = [one for one in _ways(job, known) if not any(map(one.equal, known))]
    for parts, one in itertools.product((TWO, FOUR), ways):
        if len(found) == MOST_CASES:
            break
        taken = [case for case in found if one.equal(case)]
        if any(one.of(case) >= parts for case in taken):
            continue
        most = min(most_elements(work), MOST_OTHER if parts > TWO else MOST_TOGETHER)
        left = MOST_TOGETHER - sum(sizes.elements(work, case) for case in found)
        fit = (case for case in _reached(job, one, parts) if _fits(job, case, min(most, left)))
        case = next((case for case in fit if case not in known and case not in found), None)
        found += [] if case is None else [case]
    return found


def repeated(job: JobSpec, wanted: Sequence[Combination]) -> list[Combination]:
    """Return combinations in which blocks may meet that do so in none that is declared.

    The largest: there the most blocks do.
    """
    work = job.work
    if captured_work(work) or job.kernel == job.baseline or job.checks != "confirm":
        return []
    declared = [one.values for one in work.cases]
    wanted = [one for one in wanted if one.family in FAMILIES]
    most, ways = most_elements(work), list(_ways(job, [*declared, *(c.case for c in wanted)]))
    found: list[Combination] = []
    for one in (way for way in ways if not any(map(way.equal, declared))):
        fit = [c for c in wanted if 0 < sizes.elements(work, c.case) <= most and one.equal(c.case)]
        if fit and not any(one in fit for one in found):
            found.append(max(fit, key=lambda c: sizes.elements(work, c.case)))
        if len(found) == MOST_REPEATED:
            break
    return found


def _ways(job: JobSpec, known: Sequence[Case]) -> Iterator[_Way]:
    """Yield ways to count parts that differ in what is known: of a launch first."""
    seen: set[tuple[int, ...]] = set()
    for one in itertools.islice(_every(job), MOST_WAYS):
        values = tuple(map(one.of, known))
        if one.names and max(values, default=0) > 0 and values not in seen:
            seen.add(values)
            yield one


def _every(job: JobSpec) -> Iterator[_Way]:
    work, mine, theirs = job.work, job.kernel, job.baseline
    variables = sizes.sizing(work)
    launch = (mine.launch or work.launch) if work.kind == "kernel" else None
    if launch is not None:
        for text in launch.grid:
            used = variables_of(text)
            yield _Way(tuple(k for k in variables if k in used)[:MOST_NAMES], partial(_way, text))
        values = [partial(_variable, name) for name in variables]
        for gate in launched(launch, variables):
            moved = [variables[at] for at in sorted(gate.uses) if at < len(variables)]
            yield from _divided(gate, values, moved)
    arguments = ["" if one.type.pointer else one.name for one in work.arguments]
    others = {one.key for one in gated(theirs.source, work.symbol, arguments)}
    given = inputs(work.arguments, launch)
    for gate in gated(mine.source, work.symbol, arguments):
        if gate.key not in others:
            used = frozenset(dependencies(gate.uses, work.arguments, launch))
            yield from _divided(gate, given, [k for k in variables if k in used])


def _divided(gate: Gate, given: Sequence[Input], moved: Sequence[str]) -> Iterator[_Way]:
    """Yield how often a number is taken apart, if it is into parts of a fixed size."""
    division = gate.divisions[0]
    by = division.by(_nothing)
    fixed = isinstance(by, int) and by >= LEAST_PART and not division.by_uses
    if gate.condition is None and fixed and division.word in {"/", ">>"}:
        yield _Way(tuple(moved[:MOST_NAMES]), partial(_parts, division, given))


def _way(text: str, case: Case) -> int:
    try:
        return count(text, case)
    except ExpressionError:
        return 0


def _parts(one: Division, given: Sequence[Input], case: Case) -> int:
    """Return how many parts there are of a number, one that is rounded up or down there or not."""
    values = Values(given, {name: float(value) for name, value in case.items()})
    left, by, zero = one.left(values), one.by(values), one.left(_nothing)
    if not isinstance(left, int) or not isinstance(by, int) or by < 1:
        return 0
    more = zero if isinstance(zero, int) and abs(zero) < by else 0
    return max(0, -(-(left - more) // by))


def _nothing(_at: int) -> Number:
    return 0


def _variable(name: str, case: Case) -> Number | None:
    value = case.get(name)
    return int(value) if value is not None and float(value).is_integer() else None


def _reached(job: JobSpec, way: _Way, parts: int) -> Iterator[dict[str, float]]:
    """Yield cases with so many full parts: declared ones that are larger, the largest first.

    All else is as it is declared there, then as in the smallest; then one side alone is longer.
    """
    work = job.work
    ordered = sorted(work.cases, key=lambda one: -sizes.elements(work, one.values))
    bases, least = [dict(one.values) for one in ordered], ordered[-1].values
    kept = [{**least, **{k: base[k] for k in way.names if k in base}} for base in bases]
    alone = [(name,) for name in way.names] if len(way.names) > 1 else []
    for sides, some in ((way.names, [*bases, *kept]), *((one, bases) for one in alone)):
        for base in some:
            case = _longer(job, way, sides, base, parts)
            if case is not None and way.of(case) == parts and way.equal(case):
                yield case


def _longer(
    job: JobSpec, way: _Way, sides: Sequence[str], base: Case, parts: int
) -> dict[str, float] | None:
    """Return the largest case with so many parts in which some sides are longer; None if none."""
    if not 0 < way.of(base) <= parts or any(base.get(name, 0.0) < 1 for name in sides):
        return None
    most = {name: int(TIMES_LONGER * sizes.largest(job.work, name)) for name in sides}

    def case(turns: int) -> dict[str, float]:
        factor = 2.0 ** (turns / PER_DOUBLING)
        return {**base, **{k: float(int(base[k] * factor)) for k in sides}}

    def beyond(turns: int) -> bool:
        return way.of(case(turns)) > parts

    end = int(math.log2(FARTHEST) * PER_DOUBLING)
    if not beyond(end):
        return None
    found = case(sizes.least_above(0, end, beyond) - 1)
    # As near as whole sides come to it.
    for name in (*sides[::-1], *sides):

        def above(value: int, name: str = name) -> bool:
            return way.of({**found, name: float(value)}) > parts

        if not found[name] <= most[name]:
            return None
        found[name] = float(sizes.least_above(int(found[name]), most[name] + 1, above) - 1)
    return found


def _fits(job: JobSpec, case: Case, most: int) -> bool:
    """Tell whether a case has so many elements at most, and is not where a launch fails."""
    work = job.work
    if not 0 < sizes.elements(work, case) <= most:
        return False
    if any(sizes.buffer(one, case) <= 0 for one in work.arguments if one.type.pointer):
        return False
    launches = (work.launch, job.kernel.launch) if work.kind == "kernel" else ()
    return not any(one is not None and fails(one, case, SHARED_BYTES) for one in launches)
