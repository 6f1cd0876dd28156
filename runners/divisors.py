"""Values of a scalar that is divided by, and sizes nothing: many of them, each in a small case.

A divisor, a modulus, the width of a bucket: a division is what fast code gets rid of, by a
reciprocal, a multiplier and a shift, or a power of two, and each of these is right for most numbers
and wrong for some: `(unsigned)(key * (1.0 / d))` for 49, 98, 103 and 107 of those up to 160. What
is declared is one or two of them, and sizes that nobody declared are few. So a finalist is asked
for as many as are cheap: up to 16 times the largest declared, those first whose reciprocals are
rounded down so far that a product with them is less than one, powers of two, primes and odd ones;
by equal factors beyond `SMALL`. Half of the inputs are multiples (`runners.dividends`).

Of originals that work in whole numbers alone, where a text of the two divides by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import numpy as np

from runners import dividends, sizes
from runners.contents import Combination
from runners.families import MULTIPLES, captured_work
from runners.spec import Argument, JobSpec, Work
from runners.text import LONGEST
from runners.whole_families import exact

# Combinations of a workload; elements of the case; and up to where all numbers may be asked.
MOST, MOST_ELEMENTS, SMALL = 64, 1 << 16, 160
# How many of them are further out, if there are any.
FURTHER = 16

Case = Mapping[str, float]

# Nothing is tried twice in a text that is somebody else's: a comment that does not end is its rest.
COMMENT = re.compile(r"//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?")
# A cast or an opening bracket between an operator and what it divides by.
CAST = r"(?:\(\s*+(?:\w++[\s*]*+){1,6}\)\s*+|\w++(?:\s*+<[\w\s]++>)?\s*+\(\s*+|\(\s*+)"


def combinations(job: JobSpec) -> list[Combination]:
    """Return what a candidate is asked: values of all such scalars, each by itself."""
    work = job.work
    longest = max(len(one.source) for one in (job.baseline, job.kernel))
    if captured_work(work) or not exact(work) or longest > LONGEST:
        return []
    base = _base(work)
    texts = [COMMENT.sub(" ", one.source) for one in (job.baseline, job.kernel)]
    found = [
        argument.value or ""
        for argument in (work.arguments if base else ())
        if _sizes_nothing(work, argument) and any(divided(text, argument.name) for text in texts)
    ]
    asked: list[Combination] = []
    for name in dict.fromkeys(found):
        declared = {case.values.get(name) for case in work.cases}
        most = int(sizes.TIMES_LONGER * sizes.largest(work, name))
        for value in values(most, MOST // len(set(found))):
            if base is not None and float(value) not in declared:
                case = {**base, name: float(value)}
                asked.append(Combination(case, f"{MULTIPLES} {name}", job.seed))
    return asked


def _base(work: Work) -> Case | None:
    return small(work) if any(True for _ in dividends.arrays_of(work)) else None


def small(work: Work) -> Case | None:
    """Return the smallest declared case of more than a few elements, if it is small."""
    ordered = sorted((case.values for case in work.cases), key=work.elements)
    return next((case for case in ordered if 64 < work.elements(case) <= MOST_ELEMENTS), None)


def _sizes_nothing(work: Work, argument: Argument) -> bool:
    """Tell whether an argument is a whole variable, by which no buffer grows."""
    name, scalar = argument.value or "", argument.type.scalar
    if argument.type.pointer or scalar is None or scalar.kind not in "iu":
        return False
    return name in sizes.changing(work) and name not in sizes.sizing(work)


def divided(text: str, name: str) -> bool:
    """Tell whether a text, without comments, divides by a name or takes remainders by it.

    >>> [divided(one, "d") for one in ("x / (unsigned)d", "a %= d", "1.0 / double(d)", "d / x")]
    [True, True, True, False]
    """
    return re.search(rf"[/%]=?+\s*+{CAST}{{0,4}}{re.escape(name)}\b", text, re.ASCII) is not None


def values(most: int, count: int) -> list[int]:
    """Return so many numbers from two on, up to `most`: those first that are likely to be wrong.

    >>> values(160, 64)[:8], values(6, 64), max(values(57600, 64))
    ([49, 98, 103, 107, 41, 47, 55, 61], [2, 4, 3, 5, 6], 57599)
    """
    near = range(2, min(most, SMALL) + 1)
    far = [one for one in dict.fromkeys(_further(most)) if one > SMALL] if most > SMALL else []
    found = sorted(near, key=lambda one: (_rank(one), one))
    return [*found[: count - len(far)], *far][:count]


def _rank(number: int) -> int:
    tests = (
        _less_than_one(number, np.float64),
        _less_than_one(number, np.float32),
        number & (number - 1) == 0,
        all(number % by for by in range(2, int(number**0.5) + 1)),
        number % 2 == 1,
    )
    return tests.index(True) if True in tests else len(tests)


def _less_than_one(number: int, kind: type[np.float32 | np.float64]) -> bool:
    """Tell whether a number times its rounded reciprocal is less than one."""
    return bool(kind(number) * (kind(1) / kind(number)) < 1)


def _further(most: int) -> Iterator[int]:
    """Yield odd numbers by equal factors, by turns the next one below whose reciprocal is less."""
    for turn in range(FURTHER):
        size = int(SMALL * (most / SMALL) ** ((turn + 1) / FURTHER)) - 1 | 1
        size -= 2 * (size > most)
        below = range(size, max(2, size - 400), -2)
        kind = np.float64 if turn % 4 < 2 else np.float32
        less = (one for one in below if _less_than_one(one, kind))
        yield size if turn % 2 else next(less, size)
