"""Scalars that size nothing, as large as a candidate has to be right for.

Sixteen times the largest declared is promised of every variable. By one that sizes a buffer there
are long cases; what is passed and sizes nothing (steps, ticks, a weight) is tried at four times its
largest elsewhere, or at twice it, where a product in 32 bits may still fit. So a finalist is asked
for sixteen times as much, and for one less, which is odd; with each other variable at one, where a
quotient is as large as its dividend; with each other such scalar as far out; and with amounts at
the ends of their ranges. All in the smallest declared case of more than a few elements, and only
where the original is likely to be quick: a scalar may be how often something is done
(`runners.capacities`).

Of originals that work in whole numbers alone, where what they multiply by a scalar still fits into
their words, and no sum of that is larger than it is where it was declared: beyond, nothing is
defined. What is shifted by is left out for the same reason, and what is nothing but a divisor since
it is tried elsewhere (`runners.divisors`).
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping

from runners import divisors, opposed, opposite_ends, piles, scalar_ends, sizes
from runners.contents import Combination
from runners.cuda_types import Scalar
from runners.divisors import CAST, COMMENT
from runners.families import captured_work, ranges
from runners.opposite_ends import HIGH, LOW
from runners.spec import JobSpec, Work
from runners.text import LONGEST
from runners.whole_families import exact

# Combinations of a workload; its scalars; other variables at one.
MOST, MOST_NAMES, MOST_OTHERS = 12, 3, 3
# What numbers are worked out in holds less than this, in whatever they are kept.
INT = 1 << 31

Case = Mapping[str, float]


def combinations(job: JobSpec) -> list[Combination]:
    """Return what a candidate is asked: each such scalar far out, those first that tell most."""
    work, text = job.work, job.baseline.source
    if captured_work(work) or not exact(work) or len(text) > LONGEST:
        return []
    text = COMMENT.sub(" ", text)
    base = divisors.small(work)
    found = [name for name in scalars(work) if base is not None and asked_of(text, name)]
    turns = [_of(work, text, base, name, found) for name in found[:MOST_NAMES] if base is not None]
    asked = (one for turn in itertools.zip_longest(*turns) for one in turn if one is not None)
    known = {c.key: c for c in (Combination(case, kind, job.seed) for case, kind in asked)}
    return list(known.values())[:MOST]


def _of(
    work: Work, text: str, base: Case, name: str, found: list[str]
) -> Iterator[tuple[Case, str]]:
    """Yield the cases and families of one scalar."""
    top = sizes.TIMES_LONGER * sizes.largest(work, name)
    alone = {**base, name: top}
    least = [{**alone, other: 1.0} for other in _others(work, name, found)]
    both = [
        {**alone, other: sizes.TIMES_LONGER * sizes.largest(work, other)}
        for other in found
        if other != name
    ]
    asked: list[tuple[Case, str]] = [(alone, "")]
    asked += [(case, "") for case in least[:1]]
    asked += [(case, contents) for case in (alone, *least[:1]) for contents in (HIGH, LOW)]
    if len(opposite_ends.amounts(work)) > 1:
        asked += [(alone, f"0 {end}") for end in (LOW, HIGH)]
    asked += [(case, "") for case in (*both, {**alone, name: top - 1}, *least[1:MOST_OTHERS])]
    ends = any(True for _ in opposite_ends.amounts(work))
    for case, contents in asked:
        if (ends or not contents) and fits(work, text, case, found):
            yield case, scalar_ends.family(name, contents)


def asked_of(text: str, name: str) -> bool:
    """Tell whether a scalar is neither shifted by nor a divisor alone (`runners.divisors`)."""
    divides = divisors.divided(text, name) and not _multiplied(text, name)
    return not divides and not _shifts(text, name)


def _passed(work: Work) -> dict[str, Scalar]:
    """Return the variables that are passed as whole numbers, as they are, and their types."""
    return {
        argument.value or "": argument.type.scalar
        for argument in work.arguments
        if not argument.type.pointer
        and argument.type.scalar is not None
        and argument.type.scalar.kind in "iu"
        and argument.value in work.variables
    }


def scalars(work: Work, least: int = sizes.SMALL) -> list[str]:
    """Return the passed variables by which no buffer grows, and whose words hold as much.

    What is as small as a stride or a radius is tried about as far out with all sizes: what is not
    larger than `least` is left out.
    """
    passed, sizing = _passed(work), sizes.sizing(work)
    found = []
    for name in sizes.changing(work):
        most = sizes.largest(work, name)
        if name in passed and name not in sizing and most > least:
            bits = 8 * passed[name].size - (passed[name].kind == "i")
            found += [name] if sizes.TIMES_LONGER * most < 1 << bits else []
    return found


def _others(work: Work, name: str, found: list[str]) -> list[str]:
    """Return the other passed variables, those first that size nothing, and then the smaller."""
    others = [one for one in sizes.changing(work) if one in _passed(work) and one != name]
    return sorted(others, key=lambda one: (one not in found, sizes.largest(work, one)))


def _multiplied(text: str, name: str) -> bool:
    """Tell whether a text, without comments, multiplies something by a name.

    >>> [_multiplied(one, "t") for one in ("x * (int)t", "t * x", "a *= t", "x + t", "int *t")]
    [True, True, True, False, True]
    """
    one = re.escape(name)
    behind = rf"\*=?+\s*+{CAST}{{0,4}}{one}\b"
    return re.search(rf"{behind}|\b{one}\s*+\)*+\s*+\*", text, re.ASCII) is not None


def _shifts(text: str, name: str) -> bool:
    """Tell whether a text shifts by a name: by more bits than there are nothing is defined."""
    return (
        re.search(rf"(?:<<|>>)=?+\s*+{CAST}{{0,4}}{re.escape(name)}\b", text, re.ASCII) is not None
    )


def _added(text: str, name: str) -> bool:
    """Tell whether a text, without comments, adds a name to something, or takes it away."""
    one = re.escape(name)
    behind = rf"[+-]=?+\s*+{CAST}{{0,4}}{one}\b"
    return re.search(rf"{behind}|\b{one}\s*+\)*+\s*+[+-]", text, re.ASCII) is not None


def fits(work: Work, text: str, case: Case, found: list[str]) -> bool:
    """Tell whether products by scalars fit into words, and sums of them where declared ones do."""
    room = max(opposed.room(work), INT)
    most = _product(work, text, case, found)
    total = most * sizes.largest_buffer(work, case)
    declared = [_product(work, text, one.values, found) for one in work.cases]
    long = [sizes.largest_buffer(work, one.values) for one in work.cases]
    totals = (one * many for one, many in zip(declared, long, strict=True))
    return (most < room or most <= max(declared)) and (total < room or total <= max(totals))


def _product(work: Work, text: str, case: Case, found: list[str]) -> int:
    """Return how large a number of an array is at most, times all scalars it is multiplied by.

    And with all that are added to it.
    """
    ends = max((max(abs(low), abs(high)) for low, high in _ends(work, case)), default=1)
    factors = [int(case[name]) for name in found if _multiplied(text, name)]
    terms = [int(case[name]) for name in found if _added(text, name)]
    return max(1, ends) * math.prod(factors) + sum(terms)


def _ends(work: Work, case: Case) -> Iterator[tuple[int, int]]:
    """Yield the first and the last number of each range, as it is in a case."""
    yield from ((one[1], piles.last(one, case)) for one in ranges(work))
