"""Values that size nothing, far out beside arrays that are as long as they are declared.

Up to sixteen times the largest declared is promised of every variable (decision 8). What sizes no
buffer, as steps, a window or the end of a range that is passed, is tried far out beside few
elements (`sizes.undeclared`, `far_scalars`), and little beyond the declared beside many. What goes
wrong in its third tile of 2,048 is seen only where something is in that tile, and is what it counts
for: of fifty times of death below 4,165 none may be among the 69 of the third.

So each such value is somewhat more than four times its largest, and nearly sixteen times, beside
the largest arrays of up to so many elements in which products by it and sums of these still fit
where the original has them (`far_scalars.fits`): those of a declared case, or of one whose sizes
are a half, a fourth and so on of the largest. Contents are as declared, all over a range that ends
there. A product by it that begins with a `size_t` is a place, and no amount: there is room for it.
Of originals with floats as well: what rounding makes of more steps their answers tell.

The original is asked as long as it is likely to be quick (`runners.capacities`, by the same family
as scalars far out by themselves): by its times where the arrays are declared, and as if the value
were how often something is done, and that squared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from runners import far_scalars, scalar_ends, sizes
from runners.contents import Combination
from runners.divisors import COMMENT
from runners.families import captured_work
from runners.spec import JobSpec, Work
from runners.text import LONGEST

# Values of a workload, and elements of all buffers.
MOST_NAMES, MOST_ELEMENTS = 3, 1 << 20
# A size is shortened to one part of so many, where the largest case is too large.
PARTS = (2, 4, 8, 16)
# `(size_t)gene * span`, `size_t(genes + 1) * span`: up to the value.
_PLACE = re.compile(
    r"(?:\(\s*+(?:std\s*+::\s*+)?size_t\s*+\)\s*+(?:\w++|\([^()]{0,80}+\))"
    r"|\bsize_t\s*+\([^()]{0,80}+\))\s*+\*\s*+(?=[^\W\d])",
    re.ASCII,
)

Case = Mapping[str, float]


def combinations(job: JobSpec) -> list[Combination]:
    """Return what a candidate is asked: each such value twice, the nearer one first."""
    work = job.work
    text, found = bounds(work, job.baseline.source)
    return [
        Combination(case, scalar_ends.family(name), job.seed)
        for name in found[:MOST_NAMES]
        for value in lengths(sizes.largest(work, name))
        if (case := _fullest(work, text, name, value, found)) is not None
    ]


def bounds(work: Work, source: str, least: int = sizes.SMALL) -> tuple[str, list[str]]:
    """Return an original's text without comments and places, and the values that are asked.

    Those that are declared larger than `least`.
    """
    if captured_work(work) or len(source) > LONGEST:
        return "", []
    text = places_apart(COMMENT.sub(" ", source))
    return text, [
        one for one in far_scalars.scalars(work, least) if far_scalars.asked_of(text, one)
    ]


def lengths(most: float) -> tuple[float, float]:
    """Return the values to ask at, of one that is declared up to `most`: both are odd.

    >>> lengths(500.0)
    (2001.0, 7999.0)
    """
    return (4 * most + 1, sizes.TIMES_LONGER * most - 1)


def places_apart(text: str) -> str:
    """Return a text, without comments, in which places are not multiplied by anything.

    >>> places_apart("mine + (size_t)gene * span; t = (float)v * span; size_t(g + 1) * span")
    'mine + ; span; t = (float)v * span; ; span'
    """
    return _PLACE.sub("; ", text)


def _fullest(
    work: Work, text: str, name: str, value: float, found: list[str]
) -> dict[str, float] | None:
    """Return the case with a value that has the most elements of those that fit; None for none."""
    for others in _others(work, name):
        case = {**others, name: value}
        fit = 0 < sizes.elements(work, case) <= MOST_ELEMENTS
        if fit and far_scalars.fits(work, text, case, found):
            return case
    return None


def _others(work: Work, name: str) -> Iterator[Case]:
    """Yield declared cases, and parts of the largest, from those with the most elements on."""
    declared = [case.values for case in work.cases if name in case.values]
    top = max(declared, key=lambda case: sizes.elements(work, case), default=None)
    if top is None:
        return
    sizing = [one for one in sizes.sizing(work) if top.get(one, 0.0) > sizes.SMALL]
    shorter = [
        {**top, **{one: max(float(sizes.SMALL), top[one] // part) for one in sizing}}
        for part in PARTS
        if sizing
    ]
    every = [*declared, *shorter]
    yield from sorted(every, key=lambda case: sizes.elements(work, case), reverse=True)
