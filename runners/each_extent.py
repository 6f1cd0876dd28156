"""Room that is kept for the largest of each size apart: they may never have come together.

Host code that makes room anew where one of two sizes is larger than ever, and notes the largest of
both, has too little for a call in which both are as large as they once were, each in a call of its
own. What it writes past the end lands in memory that is nobody's, mostly, and its results are
right: memcheck sees it. So a long and narrow call goes before a short and wide one, and one that is
long and wide comes last, all of them ahead of any others: behind larger ones there is room enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import combinations

from runners import sizes
from runners.contents import Combination
from runners.families import DECLARED
from runners.same_number import keeps
from runners.spec import JobSpec, Work

# Variables that are taken two at a time, elements of all buffers of a call, and what the original
# takes for one: memcheck makes that many times as long.
MOST_NAMES, MOST_ELEMENTS, QUICK = 3, 1 << 20, 0.01
# By how much a size shrinks at a time where both are too large together.
SHRINKS = 7 / 8

Case = Mapping[str, float]
Trio = tuple[dict[str, float], dict[str, float], dict[str, float]]


def trios(work: Work) -> list[Trio]:
    """Return cases that go one behind the other: long and narrow, short and wide, long and wide.

    Of each two sizes, as large as they are declared where that is not too much together, the larger
    one less if it is; other sizes as in the smallest case.
    """
    least = min((case.values for case in work.cases), key=lambda case: sizes.elements(work, case))
    found: list[Trio] = []
    for first, second in combinations(sizes.sizing(work)[:MOST_NAMES], 2):
        both = {**least, **{name: sizes.largest(work, name) for name in (first, second)}}
        pair = (first, second)
        while sizes.elements(work, both) > MOST_ELEMENTS and max(both[name] for name in pair) > 1:
            name = max(pair, key=lambda name: both[name])
            both[name] = float(int(both[name] * SHRINKS))
        few = {name: _few(both[name]) for name in pair}
        trio = ({**both, second: few[second]}, {**both, first: few[first]}, both)
        smaller = all(few[name] < both[name] for name in few)
        if smaller and all(0 < sizes.elements(work, one) <= MOST_ELEMENTS for one in trio):
            found.append(trio)
    return found


def _few(size: float) -> float:
    return 2.0 if size >= sizes.FEW else 1.0


def keeps_room(source: str) -> bool:
    """Tell whether host code seems to make room, and to keep something from call to call."""
    # Whatever makes room, or has it made, is named so, or is a container of a library.
    return ("alloc" in source.lower() or "vector" in source) and keeps(source)


def asked(job: JobSpec) -> list[Combination]:
    """Return what an original has to answer for it: of host code that keeps something, if any."""
    if job.effort != "confirm" or job.work.kind != "entry" or job.kernel == job.baseline:
        return []
    if not keeps_room(job.kernel.source):
        return []
    found = [Combination(case, DECLARED, job.seed) for trio in trios(job.work) for case in trio]
    return [*{one.key: one for one in found}.values()]


def watched(
    job: JobSpec,
    known: Callable[[Combination], object | None],
    took: Callable[[Combination], float],
) -> list[Combination]:
    """Return what memcheck is to see of that: trios that are quick, and of which each is known."""
    fit = {one.key for one in asked(job) if known(one) is not None and took(one) <= QUICK}
    found: dict[str, Combination] = {}
    for trio in trios(job.work) if fit else ():
        every = [Combination(case, DECLARED, job.seed) for case in trio]
        if all(one.key in fit for one in every):
            found |= {one.key: one for one in every}
    return [*found.values()]


def among(work: Work, given: Iterable[Combination]) -> list[Combination]:
    """Return the trios of which all three are among some combinations, one behind the other."""
    by_case = {tuple(sorted(one.case.items())): one for one in given}
    found: list[Combination] = []
    for trio in trios(work):
        every = [by_case.get(tuple(sorted(case.items()))) for case in trio]
        known = [one for one in every if one is not None]
        found += known if len(known) == len(every) else []
    return found
